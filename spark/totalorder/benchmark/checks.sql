-- How often each clause is broken, by clause. One scan; windows over the rows of a link and of a host, each sorted once;
-- messages by hash. $events: files that hold whole runs; $runs and $nodes: what their headers say.
-- Kinds: 1 submitted, 2 sent, 4 delivered, 7 ended. Packets: 1 data, 2 beacon. A barrier of -1 is none.
with run as (select * from read_parquet($runs)),
events as materialized (
  select e.run, e.file_row_number as position, e.kind, e.node, e.link, e.sender, e.receiver, e.number, e.digest, e.flags,
    e.packet, e.scattering, e.timestamp, e.barrier, e.ack_barrier, e.loss_record, e.clock_ns,
    coalesce(n.is_host, false) as is_host
  from read_parquet($events, file_row_number = true) e left join read_parquet($nodes) n using (run, node)
  where e.kind in (1, 2, 4, 7)
),
-- Messages: what was submitted, its first sending, its first delivery.
submitted as (select run, node, receiver, number, scattering, digest, clock_ns, position from events where kind = 1),
given as (
  select run, node, receiver, number, min(position) as position, arg_min(timestamp, position) as timestamp
  from events where kind = 2 and packet = 1 and node = sender and is_host group by all
),
messages as (
  select s.run, s.node, s.scattering, s.clock_ns as submitted_ns, g.position, g.timestamp
  from submitted s join given g using (run, node, receiver, number) where g.position > s.position
),
scatterings as (
  select run, node, scattering, min(position) as position, arg_min(timestamp, position) as timestamp
  from messages group by all
),
unsent as (
  select run from (
    select run, node, 1 as many from submitted union all select run, node, -1 as many from messages
  ) group by run, node having sum(many) > 0
),
deliveries as (
  select run, sender, receiver, number, count(*) as times, min(position) as position,
    arg_min(digest, position) as digest, arg_min(timestamp, position) as timestamp
  from events where kind = 4 and node = receiver group by all
),
twice_or_wrong as (
  select d.run, d.times - 1 + (
      s.position is null or s.position > d.position or d.digest <> s.digest
      or g.position is null or g.position > d.position or g.timestamp <> d.timestamp
    )::int as many
  from deliveries d
  left join submitted s on (s.run, s.node, s.receiver, s.number) = (d.run, d.sender, d.receiver, d.number)
  left join given g on (g.run, g.node, g.receiver, g.number) = (d.run, d.sender, d.receiver, d.number)
),
places as (
  select m.run, m.position, m.submitted_ns, m.position = s.position as is_first, m.timestamp <> s.timestamp as differs
  from messages m join scatterings s using (run, node, scattering)
),
-- Hosts: what each sent and delivered before.
at_hosts as (
  select e.*, p.submitted_ns, coalesce(p.is_first, false) as is_first, coalesce(not p.is_first, false) as is_further
  from events e left join places p using (run, position)
  where e.is_host and e.kind in (2, 4)
),
hosts as (
  select *,
    coalesce(max(case when kind = 2 then barrier end) over before, -1) as promised,
    coalesce(max(case when kind = 2 then ack_barrier end) over before, -1) as ack_promised,
    max(case when kind = 2 and packet = 1 then timestamp end) over before as last_sent,
    max(case when is_first then timestamp end) over before as last_given,
    max(case when kind = 4 then timestamp end) over before as delivered,
    max(case when kind = 4 then timestamp * 65536 + sender end) over before as last_delivered
  from at_hosts
  window before as (partition by run, node order by position rows between unbounded preceding and 1 preceding)
),
due as (
  select h.*, r.causal, r.loses, r.adjustment_interval_ns = 0 as plain_clock,
    greatest(case when r.adjustment_interval_ns = 0 then clock_ns else 0 end, coalesce(last_sent, 0), promised) as least_due
  from hosts h join run r using (run)
),
host_counts as (
  select run,
    count(*) filter (is_first and (
      timestamp <= last_given
      or (plain_clock and timestamp < submitted_ns)
      or (plain_clock and causal = 0
        and timestamp > clock_ns and timestamp > promised and timestamp > ack_promised
        and not (ack_promised >= 0 and timestamp - 1 = ack_promised)
        and (last_given is null or timestamp - 1 > last_given)))) as mono,
    count(*) filter (kind = 2 and case
      when packet = 1 then (flags & 1 = 0 or loses = 0)
        and ((barrier <> -1 and barrier <> timestamp) or (not is_further and timestamp < promised))
      when barrier <> -1 then barrier < last_sent
        or barrier < case when least_due <= ack_promised then ack_promised + 1 else least_due end
        or (plain_clock and barrier <> case when least_due <= ack_promised then ack_promised + 1 else least_due end)
      else false end) as bar_host,
    count(*) filter (kind = 4 and timestamp * 65536 + sender <= last_delivered) as in_order,
    count(*) filter (is_first and timestamp <= delivered) as causal_after,
    count(*) filter (kind = 4 and node <> receiver) as elsewhere
  from due group by run
),
-- Links: what left on each before.
on_links as (
  select *,
    coalesce(max(barrier) over before, -1) as highest,
    coalesce(max(ack_barrier) over before, -1) as highest_ack,
    max(case when packet = 1 then clock_ns end) over before as data_ns
  from events where kind = 2
  window before as (partition by run, link order by position rows between unbounded preceding and 1 preceding)
),
link_counts as (
  select l.run,
    count(*) filter (packet = 1 and (flags & 1 = 0 or loses = 0) and timestamp < highest) as bar_link,
    count(*) filter (barrier <> -1 and barrier < highest) as bar_rise,
    count(*) filter (packet = 2 or (packet = 1 and not (fill_barrier = 1 and is_host) and barrier = -1)) as env_a,
    count(*) filter ((packet = 1 and barrier <> -1) or (packet = 2 and barrier = -1)) as env_b,
    count(*) filter (
      (packet = 1 and not (fill_barrier = 1 and is_host) and barrier = -1)
      or (packet = 2 and clock_ns < data_ns + beacon_interval_ns)) as env_c,
    count(*) filter (packet = 2 and not is_host
      and barrier <= greatest(highest, 0) and ack_barrier <= greatest(highest_ack, 0) and loss_record <= 0) as beacon_min
  from on_links l join run r using (run) group by l.run
),
counted as (
  select 'TO-MONO' as clause, run, mono as many from host_counts
  union all select 'TO-BAR-HOST', run, bar_host from host_counts
  union all select 'TO-ORDER', run, in_order from host_counts
  union all select 'TO-CAUSAL', run, causal_after from host_counts
  union all select 'TO-ONCE', run, elsewhere from host_counts
  union all select 'TO-ONCE', run, many from twice_or_wrong
  union all select 'TO-SCATTER', run, 1 from places where not is_first and differs
  union all select 'TO-SCATTER', run, 1 from events join run r using (run)
    where kind = 7 and flags & 3 = 3 and failure_timeout_ns = 0 and run in (from unsent)
  union all select 'TO-BAR-LINK', run, bar_link from link_counts
  union all select 'TO-BAR-RISE', run, bar_rise from link_counts
  union all select 'TO-ENV-A', run, env_a from link_counts
  union all select 'TO-ENV-B', run, env_b from link_counts
  union all select 'TO-ENV-C', run, env_c from link_counts
  union all select 'TO-BEACON-MIN', run, beacon_min from link_counts
),
applies as (unpivot run on columns('^TO-') into name clause value does)
select clause, sum(many)::bigint from counted join applies using (run, clause) where does group by clause
