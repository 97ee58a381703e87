import { extname } from 'node:path'
import { parentPort, Worker } from 'node:worker_threads'

/** A thread that answers requests one after another, in their order. */
export interface Thread<Request, Reply> {
  /** Rejects when the thread has been told to end. */
  call(request: Request): Promise<Reply>
  /** Requests that have no reply yet. */
  readonly waiting: number
  /** Lets the thread answer what it has and end. */
  close(): Promise<void>
}

const CLOSE = 'close'

/**
 * Starts the module beside this one with that name, and fulfils when it serves. Rejects with the error that keeps it
 * from it. When the thread dies of an error later the process goes with it: what it had written is on disk, what it had not answered was never
 * acknowledged.
 */
export async function startThread<Request, Reply>(
  name: string,
  workerData: unknown,
): Promise<Thread<Request, Reply>> {
  // The extension of this module, as the built package holds .js where the sources hold .ts.
  const url = new URL(`./${name}${extname(import.meta.url)}`, import.meta.url)
  const worker = new Worker(url, { workerData, name })
  const waiting: ((reply: Reply) => void)[] = []
  const isReady = Promise.withResolvers<void>()
  const hasEnded = Promise.withResolvers<void>()
  worker.once('error', isReady.reject)
  worker.once('message', () => {
    worker.on('message', (reply: Reply) => waiting.shift()?.(reply))
    worker.off('error', isReady.reject)
    worker.on('error', (error) => {
      queueMicrotask(() => {
        throw error
      })
    })
    isReady.resolve()
  })
  worker.once('exit', () => hasEnded.resolve())
  await isReady.promise
  let isClosing = false
  return {
    call(request) {
      if (isClosing) return Promise.reject(new Error(`${name} has ended`))
      return new Promise((resolve) => {
        waiting.push(resolve)
        worker.postMessage(request)
      })
    },
    get waiting() {
      return waiting.length
    },
    async close() {
      isClosing = true
      worker.postMessage(CLOSE)
      await hasEnded.promise
    },
  }
}

/** The other end, called once inside the thread: `answer` each request, `close` when told to. */
export function serveThread<Request, Reply>(answer: (request: Request) => Reply, close: () => void): void {
  const port = parentPort
  if (port === null) throw new Error('serveThread runs in a worker thread')
  port.on('message', (request: Request | typeof CLOSE) => {
    if (request === CLOSE) {
      close()
      port.close()
    } else {
      port.postMessage(answer(request))
    }
  })
  port.postMessage('ready')
}
