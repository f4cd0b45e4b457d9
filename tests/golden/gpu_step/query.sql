select step, ts, dur, complete from steps;
select name, step, queue_delay, (select name from ops where ops.id = kernels.op) as op from kernels order by ts;
select s.name as from_name, t.name as to_name, f.kind from flows f join slices s on f.from_slice = s.id join slices t on f.to_slice = t.id order by t.ts;
select ts, bytes, total_allocated, name from memory order by ts;
select name, cat, depth, dur from slices where cat in ('cpu_op', 'user_annotation') order by ts, depth;
