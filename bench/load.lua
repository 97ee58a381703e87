-- One load for wrk; bench/load.ts runs it:
--   wrk -s load.lua <url> -- <percent creates> <percent lists> <first id> <seeded plants> <page path> <token>
-- What is neither create nor list is a get of a seeded plant. Requests are put together from prepared parts, as the
-- load generator shares the machine with what it measures.

local threads = 0

function setup(thread)
  thread:set('threadNumber', threads)
  threads = threads + 1
end

local random, format = math.random, string.format
local creates, lists, nextId, seeded, createHead, getHead, pageHead, tail

function init(args)
  creates, lists = tonumber(args[1]), tonumber(args[2])
  -- A range of ids for each thread, all of ten digits, so that every body has the same length.
  nextId = tonumber(args[3]) + threadNumber * 1000000
  seeded = tonumber(args[4])
  local authorization = '\r\nAuthorization: Bearer ' .. args[6]
  local host = ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port .. authorization
  local example = format('{"id":%d,"name":"Quercus robur","tag":"tree"}', nextId)
  createHead = 'POST /plants' .. host .. '\r\nContent-Type: application/json\r\nContent-Length: ' .. #example
    .. '\r\n\r\n{"id":'
  getHead = 'GET /plants/'
  pageHead = 'GET ' .. args[5]
  tail = host .. '\r\n\r\n'
  math.randomseed(nextId)
end

function request()
  local die = (creates == 100 or creates + lists == 0) and 0 or random(0, 99)
  if die < creates then
    nextId = nextId + 1
    return format('%s%d,"name":"Quercus robur","tag":"tree"}', createHead, nextId)
  end
  if die < creates + lists then return pageHead .. random(0, seeded - 100) .. tail end
  return getHead .. random(seeded) .. tail
end

function done(summary, latency)
  local errors = summary.errors
  io.write(format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50Ms":%.3f,"p99Ms":%.3f,"rejected":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
