-- Sends the bodies of a file, one a line, in turn, on behalf of bench/serve.mjs:
--   wrk -s bench/wrk.lua URL -- OPERATION FILE
-- and prints one line that is easy to read back.
local requests, at = {}, 0

function init(args)
  local headers = {
    ["Content-Type"] = "application/x-amz-json-1.0",
    ["X-Amz-Target"] = "DynamoDB_20120810." .. args[1],
    ["X-Amz-Date"] = "20260101T000000Z",
    ["Authorization"] = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=00",
  }
  for line in io.lines(args[2]) do
    requests[#requests + 1] = wrk.format("POST", "/", headers, line)
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
