-- Puts what a seat says into the feed of a game, within what one seat may say.
--
-- KEYS  the game, its feed, the wake-up channel of its bucket, the due work of its bucket
-- ARGV  1 position of the feed where it was judged; 2 seat; 3 fingerprint of the request; 4 id of the declaration;
--       5 the game's turn; 6 entry of the feed; 7 its mark; 8 entries the feed keeps; 9 id of the game;
--       10 most in a turn; 11 milliseconds that each takes; 12 how many of these a seat can take ahead
-- Gives nil if the game is elsewhere or nowhere; else what came of it: 'said', 'over', 'already', 'enough', or 'fast'
-- with the milliseconds until it can be said.

if redis.call('HGET', KEYS[1], 'position') ~= ARGV[1] then
  return false
end
-- A game that is over is to be forgotten.
if redis.call('TTL', KEYS[1]) ~= -1 then
  return { 'over' }
end

local field = 'w' .. ARGV[2]
-- The time up to which what was said has taken the seat's time; the turn, and what was said in it.
local taken, turn, said = string.match(redis.call('HGET', KEYS[1], field) or '', '^(%d+) (%d+)( .*)$')
if turn ~= ARGV[5] then
  said = ' '
end
if string.find(said, ' ' .. ARGV[4] .. ' ', 1, true) then
  return { 'already' }
end
if select(2, string.gsub(said, '%S+', '')) >= tonumber(ARGV[10]) then
  return { 'enough' }
end
local time = redis.call('TIME')
local now, each = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(ARGV[11])
taken = math.max(tonumber(taken or 0), now)
local wait = taken - now - each * (ARGV[12] - 1)
if wait > 0 then
  return { 'fast', wait }
end

redis.call('HSET', KEYS[1],
  field, string.format('%.0f %s%s%s ', taken + each, ARGV[5], said, ARGV[4]),
  'q' .. ARGV[2], (redis.call('HGET', KEYS[1], 'q' .. ARGV[2]) or '') .. ARGV[3],
  'mark', ARGV[7])
local position = redis.call('HINCRBY', KEYS[1], 'position', 1)
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[8], position .. '-0', 'e', ARGV[6])
tell(KEYS[1], KEYS[3], ARGV[9], KEYS[4])
return { 'said' }
