-- The newest entry of a feed that is shown.
--
-- KEYS  the game, its feed

local shown = redis.call('HGET', KEYS[1], 'shown')
local found = redis.call('XREVRANGE', KEYS[2], shown and shown .. '-0' or '+', '-', 'COUNT', 1)[1]
return found and found[2][2]
