import { extname } from 'node:path'
import { parentPort, Worker, workerData } from 'node:worker_threads'

/** A thread that replies to requests one after another, in their order. */
export interface Thread<Request, Reply> {
  /** Rejects when the thread has been told to end. */
  call(request: Request): Promise<Reply>
  /** Ends the thread once it has replied to every request, or rejected those that it has not begun, where it can. */
  close(): Promise<void>
  /** Calls `listener` with every warning of the thread (`warn`). */
  onWarning(listener: (text: string) => void): void
}

/** A message of a thread that is no reply. */
interface Warning {
  warning: string
}

const CLOSE = 'close'

/** What the thread sees at once, though messages wait before the one that has it end. */
interface SharedData {
  isClosing: Int32Array
}

/**
 * Starts the thread whose module is `../name/name.ts`, and fulfils when it serves. Rejects with the error that keeps it
 * from it. When the thread dies of an error later the process goes with it: what it had written is on disk, what it had
 * not answered was never acknowledged.
 */
export async function startThread<Request, Reply>(
  name: string,
  options: object,
): Promise<Thread<Request, Reply>> {
  // The extension of this module, as the built package holds .js where the sources hold .ts.
  const url = new URL(`../${name}/${name}${extname(import.meta.url)}`, import.meta.url)
  const shared: SharedData = { isClosing: new Int32Array(new SharedArrayBuffer(4)) }
  const worker = new Worker(url, { workerData: { ...options, ...shared }, name: `sqlite-${name}` })
  const waiting: ((reply: Reply) => void)[] = []
  const listeners: ((text: string) => void)[] = []
  const isReady = Promise.withResolvers<void>()
  const hasEnded = Promise.withResolvers<void>()
  worker.once('error', isReady.reject)
  worker.once('message', () => {
    worker.on('message', (message: Reply | Warning) => {
      if (!isWarning(message)) waiting.shift()?.(message)
      else for (const listener of listeners) listener(message.warning)
    })
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
    async close() {
      isClosing = true
      Atomics.store(shared.isClosing, 0, 1)
      worker.postMessage(CLOSE)
      await hasEnded.promise
    },
    onWarning: (listener) => void listeners.push(listener),
  }
}

function isWarning(message: unknown): message is Warning {
  return typeof message === 'object' && message !== null && 'warning' in message
}

/** Sends a warning to the listeners at the other end; called inside the thread. */
export function warn(text: string): void {
  parentPort?.postMessage({ warning: text } satisfies Warning)
}

/**
 * The other end, called once inside the thread: `answer` each request, `close` when told to. With `refuse`, the requests
 * that wait then are refused instead: each may take long, and whoever asked is gone.
 */
export function serveThread<Request, Reply>(
  answer: (request: Request) => Reply,
  close: () => void,
  refuse?: () => Reply,
): void {
  const port = parentPort
  if (port === null) throw new Error('serveThread runs in a worker thread')
  const { isClosing } = workerData as SharedData
  port.on('message', (request: Request | typeof CLOSE) => {
    if (request === CLOSE) {
      close()
      port.close()
    } else if (refuse !== undefined && Atomics.load(isClosing, 0) === 1) {
      port.postMessage(refuse())
    } else {
      port.postMessage(answer(request))
    }
  })
  port.postMessage('ready')
}
