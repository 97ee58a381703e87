import { extname } from 'node:path'
import { parentPort, Worker, workerData } from 'node:worker_threads'

/** A thread that handles requests one after another, in order. */
export interface Thread<Request, Reply> {
  /** Rejects after `close` was called. */
  call(request: Request): Promise<Reply>
  /** Ends the thread after it has replied to every request. Threads with `reject` do not start the queued ones. */
  close(): Promise<void>
  /** Calls `listener` with every warning of the thread (`warn`). */
  onWarning(listener: (text: string) => void): void
}

/** A message of a thread that is not a reply. */
interface Warning {
  warning: string
}

const CLOSE = 'close'

/** Memory that the thread sees at once, before the messages that are queued ahead of CLOSE. */
interface SharedData {
  isClosing: Int32Array
}

/**
 * Starts the thread whose module is `../name/name.ts` and fulfils when it is ready. Rejects with the error of its
 * start. If the thread fails later, the process ends: its commits are on disk, and writes without a reply were never
 * acknowledged.
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

/** Sends a warning to the listeners; called inside the thread. */
export function warn(text: string): void {
  parentPort?.postMessage({ warning: text } satisfies Warning)
}

/**
 * Runs the thread's side; called once inside the thread. `handle` returns the reply to a request, `close` releases the
 * resources. During a close queued requests get the reply of `reject`, if given: each may take long, and its caller is
 * gone.
 */
export function serveThread<Request, Reply>(
  handle: (request: Request) => Reply,
  close: () => void,
  reject?: () => Reply,
): void {
  const port = parentPort
  if (port === null) throw new Error('serveThread runs in a worker thread')
  const { isClosing } = workerData as SharedData
  port.on('message', (request: Request | typeof CLOSE) => {
    if (request === CLOSE) {
      close()
      port.close()
    } else if (reject !== undefined && Atomics.load(isClosing, 0) === 1) {
      port.postMessage(reject())
    } else {
      port.postMessage(handle(request))
    }
  })
  port.postMessage('ready')
}
