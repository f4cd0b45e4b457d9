select name, ts, dur from slices order by ts;
