import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The floor for HTTP: what node:http does when there is nothing to do. It reads the whole body and responds
// with it; a GET gets a constant body of the size that ours has: echo.ts <bytes of a plant> <bytes of a page>

const plant = constantJson(Number(process.argv[2]))
const page = constantJson(Number(process.argv[3]))

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = request.method === 'POST' ? Buffer.concat(chunks) : request.url?.includes('?') ? page : plant
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})

server.listen(0, '127.0.0.1', () => {
  console.log(`Echo is at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

function constantJson(bytes: number): Buffer {
  return Buffer.from(JSON.stringify('x'.repeat(bytes - 2)))
}
