-- What kind of key it is, its bytes in memory, its seconds to live (less than 0: for ever), and the number of its items.
--
-- KEYS  any key
-- Gives nil if it is not there.

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return false
end
local counts = { hash = 'HLEN', list = 'LLEN', stream = 'XLEN' }
return {
  kind,
  redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', '0'),
  redis.call('TTL', KEYS[1]),
  counts[kind] and redis.call(counts[kind], KEYS[1]) or 0
}
