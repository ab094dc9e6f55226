-- Wakes who watches a game, for scripts that made its feed grow: at once, or, if the game is one that says how far its
-- feed is shown, only once what it has got is shown as well.
local function tell(game, wake, id)
  if redis.call('HEXISTS', game, 'shown') == 0 then
    redis.call('SPUBLISH', wake, id)
  end
end

