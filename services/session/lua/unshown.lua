-- How far the feed of a game goes, if not all of it is shown; else 0.
--
-- KEYS  the game

local found = redis.call('HMGET', KEYS[1], 'position', 'shown')
if found[2] and tonumber(found[2]) < tonumber(found[1]) then
  return tonumber(found[1])
end
return 0
