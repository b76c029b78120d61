-- Sends the bodies of a file, one a line, in turn, on behalf of bench/serve.mjs:
--   wrk -s bench/wrk.lua URL -- OPERATION FILE
-- and prints one line that is easy to read back. A run of 36 @ in a body becomes a token that is new
-- each time, as clients send one with each transaction.
local requests, at = {}, 0
local token, place = 0, string.rep("@", 36)

function init(args)
  local headers = {
    ["Content-Type"] = "application/x-amz-json-1.0",
    ["X-Amz-Target"] = "DynamoDB_20120810." .. args[1],
    ["X-Amz-Date"] = "20260101T000000Z",
    ["Authorization"] = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=00",
  }
  for line in io.lines(args[2]) do
    requests[#requests + 1] = split(wrk.format("POST", "/", headers, line))
  end
  math.randomseed(os.time() + tonumber(tostring({}):sub(8)) % 1000003)
  at = math.random(#requests)
  token = math.random(1e9) * 1e6
end

function split(request)
  local from, to = request:find(place, 1, true)
  if not from then return request end
  return { request:sub(1, from - 1), request:sub(to + 1) }
end

function request()
  at = at % #requests + 1
  local next = requests[at]
  if type(next) == "string" then return next end
  token = token + 1
  return next[1] .. string.format("%036.0f", token) .. next[2]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %.1f %d %d %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50), latency:percentile(99),
    errors.status + errors.read + errors.write + errors.timeout + errors.connect))
end
