select name, ts, dur, depth, parent is null as at_top from slices order by ts, depth;
select sum(dur) as total, count(*) as kernels from kernels;
select code, count from quality where code = 'stream_overlap';
