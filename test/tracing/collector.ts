import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import type { Lifetime } from '../support/http/start-app.ts'

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  startNs: bigint
  endNs: bigint
  attributes: Record<string, string | bigint>
  statusCode: bigint
}

export interface Collector {
  url: string
  spans: CollectedSpan[]
  /** The attributes of their sender. */
  resource: Record<string, string | bigint>
}

/** A message on the wire (Protocol Buffers, "Encoding"): the values of each field, by its number. */
type Message = Map<number, (bigint | Buffer)[]>

/** Receives traces over OTLP/HTTP, until the test ends. */
export async function startCollector(test: Lifetime): Promise<Collector> {
  const collector: Collector = { url: '', spans: [], resource: {} }
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    for (const resourceSpans of messages(decode(bytes), 1)) {
      for (const resource of messages(resourceSpans, 1)) collector.resource = attributesOf(resource, 1)
      for (const scope of messages(resourceSpans, 2)) collector.spans.push(...messages(scope, 2).map(spanOf))
    }
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.after(() => {
    server.close()
    server.closeAllConnections()
  })
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return collector
}

function spanOf(span: Message): CollectedSpan {
  const bytes = (field: number) => (span.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0)
  const number = (field: number) => (span.get(field)?.[0] as bigint | undefined) ?? 0n
  return {
    traceId: bytes(1).toString('hex'),
    spanId: bytes(2).toString('hex'),
    parentSpanId: bytes(4).toString('hex'),
    name: bytes(5).toString(),
    kind: Number(number(6)),
    startNs: number(7),
    endNs: number(8),
    attributes: attributesOf(span, 9),
    statusCode: (messages(span, 15)[0]?.get(3)?.[0] as bigint | undefined) ?? 0n,
  }
}

function attributesOf(message: Message, field: number): Record<string, string | bigint> {
  const pairs = messages(message, field).map((pair) => {
    const value = messages(pair, 2)[0]
    const text = value?.get(1)?.[0] as Buffer | undefined
    return [String(pair.get(1)?.[0]), text?.toString() ?? (value?.get(3)?.[0] as bigint | undefined) ?? '']
  })
  return Object.fromEntries(pairs)
}

function messages(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => decode(value as Buffer))
}

function decode(bytes: Buffer): Message {
  const message: Message = new Map()
  let at = 0

  function varint(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes.readUInt8(at++))
      value |= (byte & 0x7fn) << shift
      if (byte < 0x80n) return value
    }
  }

  function take(length: number): Buffer {
    at += length
    return bytes.subarray(at - length, at)
  }

  while (at < bytes.length) {
    const tag = varint()
    const type = Number(tag & 7n)
    const value =
      type === 0 ? varint() : type === 1 ? take(8).readBigUInt64LE() : take(type === 5 ? 4 : Number(varint()))
    const field = Number(tag >> 3n)
    message.set(field, [...(message.get(field) ?? []), value])
  }
  return message
}
