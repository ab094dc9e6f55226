-- Wakes who watches a game, for scripts that made its feed grow: at once, or, if the game is one that says how far its
-- feed is shown, only once what it has got is shown as well. That is due to be done by somebody else some time later, as
-- whoever is about to do it may die before.
local function tell(game, wake, id, due)
  if redis.call('HEXISTS', game, 'shown') == 0 then
    redis.call('SPUBLISH', wake, id)
  else
    local time = redis.call('TIME')
    redis.call('ZADD', due, 'NX', time[1] * 1000 + math.floor(time[2] / 1000) + 2000, 'show ' .. id)
  end
end

