-- Sends whole requests of a file, made by bench/signature.mjs: each a line of its length, then its bytes.
local requests, at = {}, 0

function init(args)
  local file = io.open(args[1], "rb")
  while true do
    local size = file:read("*n")
    if not size then break end
    file:read(1)
    requests[#requests + 1] = file:read(size)
  end
  at = math.random(#requests)
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %.1f %d %d %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50), latency:percentile(99),
    errors.status + errors.read + errors.write + errors.timeout + errors.connect))
end
