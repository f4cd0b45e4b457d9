select name, cat, dur from slices order by ts, depth;
select code, count, excluded from quality order by code;
