-- Puts a table that was made anew from a game's log in the place of the game's table.
--
-- KEYS  the game, its log, its feed, the wake-up channel of its bucket, the due work of its bucket
-- ARGV  1 version where the game is to be; 2 version of the new table; 3 its state; 4 mark; 5 entry of the feed;
--       6 entries the feed keeps; 7 id of the game; 8 '1' to keep the feed, else it is begun anew
-- Gives 1, or 0 if the game or its log is elsewhere or nowhere.

if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] or redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[2]) then
  return 0
end

-- The feed and the game's own count of it can disagree; the place is after both.
local position = tonumber(redis.call('HGET', KEYS[1], 'position') or 0)
local newest = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1]
if newest then
  position = math.max(position, tonumber(string.match(newest[1], '^%d+')))
end
position = position + 1
if ARGV[8] ~= '1' then
  redis.call('DEL', KEYS[3])
end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'state', ARGV[3], 'mark', ARGV[4], 'position', position)
redis.call('XADD', KEYS[3], 'MAXLEN', ARGV[6], position .. '-0', 'e', ARGV[5])
tell(KEYS[1], KEYS[4], ARGV[7], KEYS[5])
return 1
