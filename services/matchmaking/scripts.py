"""What changes tickets in the store, each change in one script.

Any of them may be run twice, as the store client repeats a command whose connection broke.
"""

from services.runtime.store import Script

_CLOCK = """
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
"""

# What scripts over a pool share. KEYS: queue, deadlines, due. ARGV: pool id, pool, seats, channel.
_POOL = (
    _CLOCK
    + """
local queue, deadlines, due = KEYS[1], KEYS[2], KEYS[3]
local pool_id, pool, seats, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local now = clock()

local function waiting()
  return redis.call('ZCARD', queue)
end

-- Takes the tickets whose time is over out of the queue; true if there were any.
local function expire()
  local any = false
  while true do
    local over = redis.call('ZRANGEBYSCORE', deadlines, '-inf', now, 'LIMIT', 0, 1000)
    if #over == 0 then
      return any
    end
    redis.call('ZREM', queue, unpack(over))
    redis.call('ZREM', deadlines, unpack(over))
    any = true
  end
end

-- A pool with enough tickets is due work: who filled it takes it up at once, anybody else after the lease.
local function plan(lease)
  if waiting() >= seats then
    redis.call('ZADD', due, 'NX', now + lease, 'pool:' .. pool)
  else
    redis.call('ZREM', due, 'pool:' .. pool)
  end
end

local function tell(tickets)
  redis.call('SPUBLISH', channel, table.concat({pool_id, unpack(tickets)}, ' '))
end
"""
)

# KEYS: request. ARGV: what the request stands for, life (ms). Gives what it stood for first.
REMEMBER = Script("""
local before = redis.call('GET', KEYS[1])
if before then
  return before
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
""")

# Tickets are told by name; the key to the seat that a ticket is to get goes with it into the claim.

# More KEYS: ticket, arrivals. More ARGV: lease, ticket, player, life, time kept after it, key. Gives whether the pool
# has enough tickets.
ENQUEUE = Script(
    _POOL
    + """
local ticket, arrivals = KEYS[4], KEYS[5]
local lease, id, player, life, kept, key = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
if redis.call('EXISTS', ticket) == 0 then
  expire()
  local arrival = redis.call('INCR', arrivals)
  redis.call('HSET', ticket, 'pool', pool, 'player', player, 'arrival', arrival, 'key', key)
  redis.call('ZADD', queue, arrival, id)
  redis.call('ZADD', deadlines, now + life, id)
  for _, lasting in ipairs({ticket, queue, deadlines}) do
    redis.call('PEXPIRE', lasting, life + kept)
  end
  plan(lease)
  if waiting() <= seats then
    tell({})
  end
end
return waiting() >= seats
"""
)

# More ARGV: lease. Gives the oldest tickets if there are enough for a game, else none.
OLDEST = Script(
    _POOL
    + """
if expire() then
  tell({})
end
plan(ARGV[5])
if waiting() < seats then
  return {}
end
return redis.call('ZRANGE', queue, 0, seats - 1)
"""
)

# More KEYS: claim, each ticket. More ARGV: lease, claim id, each ticket. Gives whether the tickets are claimed; they
# are not if one of them does not wait any more.
CLAIM = Script(
    _POOL
    + """
local claim = KEYS[4]
local lease, claim_id = ARGV[5], ARGV[6]
local ids = {unpack(ARGV, 7)}
if redis.call('EXISTS', claim) == 1 then
  return true
end
expire()
for i, id in ipairs(ids) do
  if not redis.call('ZSCORE', queue, id) then
    return false
  end
  if redis.call('EXISTS', KEYS[4 + i]) == 0 then
    redis.call('ZREM', queue, id)
    redis.call('ZREM', deadlines, id)
    return false
  end
end
local keys = {}
for i = 1, #ids do
  keys[i] = redis.call('HGET', KEYS[4 + i], 'key')
  redis.call('HDEL', KEYS[4 + i], 'key')
  redis.call('HSET', KEYS[4 + i], 'claim', claim_id)
  redis.call('PERSIST', KEYS[4 + i])
end
redis.call('ZREM', queue, unpack(ids))
redis.call('ZREM', deadlines, unpack(ids))
redis.call('HSET', claim, 'pool', pool, 'keys', table.concat(keys), 'tickets', table.concat(ids, ' '), 'attempts', 0)
redis.call('ZADD', due, now + lease, 'claim:' .. claim_id)
plan(lease)
tell(ids)
return true
"""
)

# More KEYS: claim, each ticket. More ARGV: claim id, time the tickets are kept, field, each ticket's value of the
# field, each ticket. Gives whether this run did it.
SETTLE = Script(
    _POOL
    + """
local claim = KEYS[4]
local claim_id, kept, field = ARGV[5], ARGV[6], ARGV[7]
local count = #KEYS - 4
if redis.call('EXISTS', claim) == 0 then
  return false
end
for i = 1, count do
  redis.call('HSET', KEYS[4 + i], field, ARGV[7 + i])
  redis.call('PEXPIRE', KEYS[4 + i], kept)
end
redis.call('DEL', claim)
redis.call('ZREM', due, 'claim:' .. claim_id)
tell({unpack(ARGV, 8 + count)})
return true
"""
)

# More KEYS: ticket. More ARGV: lease, ticket, time it is kept. Gives 'deleted', 'matched' or 'gone'.
DELETE = Script(
    _POOL
    + """
local ticket = KEYS[4]
local lease, id, kept = ARGV[5], ARGV[6], ARGV[7]
expire()
if redis.call('ZREM', queue, id) == 1 then
  redis.call('ZREM', deadlines, id)
  redis.call('HSET', ticket, 'cancelled', 1)
  redis.call('HDEL', ticket, 'key')
  redis.call('PEXPIRE', ticket, kept)
  plan(lease)
  tell({id})
  return 'deleted'
end
if redis.call('HEXISTS', ticket, 'cancelled') == 1 or redis.call('HEXISTS', ticket, 'refused') == 1 then
  return 'deleted'
end
if redis.call('HEXISTS', ticket, 'claim') == 1 then
  return 'matched'
end
return 'gone'
"""
)

# More KEYS: each ticket. More ARGV: lease, life, time kept after it, then for each ticket its name and whether it has
# been followed without a gap (1 or 0). Such a ticket does not expire, not even if nobody could reach the store to
# keep it alive. Gives the number of waiting tickets, and of each: whether it waits (1 or 0), claim, cancelled,
# matched, refused.
FOLLOW = Script(
    _POOL
    + """
local lease, life, kept = ARGV[5], ARGV[6], ARGV[7]
local changed = expire()
local found = {}
for i = 1, #KEYS - 3 do
  local ticket, id, followed = KEYS[3 + i], ARGV[6 + 2 * i], ARGV[7 + 2 * i] == '1'
  local arrival, claim, cancelled, matched, refused =
    unpack(redis.call('HMGET', ticket, 'arrival', 'claim', 'cancelled', 'matched', 'refused'))
  local waits = redis.call('ZSCORE', queue, id)
  if not waits and followed and arrival and not claim and not cancelled then
    waits = redis.call('ZADD', queue, arrival, id)
    changed = true
  end
  if waits then
    redis.call('ZADD', deadlines, now + life, id)
    redis.call('PEXPIRE', ticket, life + kept)
  end
  found[i] = {waits and 1 or 0, claim, cancelled, matched, refused}
end
redis.call('PEXPIRE', queue, life + kept)
redis.call('PEXPIRE', deadlines, life + kept)
if changed then
  plan(lease)
  tell({})
end
return {waiting(), found}
"""
)

# KEYS: due. ARGV: lease. Gives what is due; nobody else takes it within the lease.
TAKE_DUE = Script(
    _CLOCK
    + """
local now = clock()
local items = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 100)
for _, item in ipairs(items) do
  redis.call('ZADD', KEYS[1], now + ARGV[1], item)
end
return items
"""
)

# KEYS: due, claim. ARGV: claim id, time (ms) until it is due again.
POSTPONE = Script(
    _CLOCK
    + """
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('HINCRBY', KEYS[2], 'attempts', 1)
  redis.call('ZADD', KEYS[1], clock() + ARGV[2], 'claim:' .. ARGV[1])
end
"""
)
