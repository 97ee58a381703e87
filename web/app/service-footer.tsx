import { useEffect, useState } from 'preact/hooks'
import { createPlantStoreClient, type Readiness, RequestError } from '../../src/client/plant-store-client.ts'
import { texts } from './parts/texts.ts'
import { BASE_URL } from './session/session.ts'

const words = texts.footer
const POLL_MS = 30_000
/** The interval while the service is not ready. */
const RETRY_MS = 5_000
const TIMEOUT_MS = 5_000
const STORAGE_GONE = 50302
const SHUTTING_DOWN = 50303

/** The state of the service, and links to the API documents. */
export function ServiceFooter() {
  const [readiness, setReadiness] = useState<Readiness>()
  const [problem, setProblem] = useState('')

  useEffect(() => {
    const client = createPlantStoreClient({ baseUrl: BASE_URL, timeoutMs: TIMEOUT_MS })
    let timer: ReturnType<typeof setTimeout> | undefined
    let controller = new AbortController()
    function stop() {
      clearTimeout(timer)
      controller.abort()
    }
    async function poll() {
      stop()
      controller = new AbortController()
      const { signal } = controller
      try {
        setReadiness(await client.getReadiness({ signal }))
        setProblem('')
        timer = setTimeout(poll, POLL_MS)
      } catch (error) {
        if (signal.aborted) return
        setProblem(problemOf(error))
        timer = setTimeout(poll, RETRY_MS)
      }
    }
    void poll()
    for (const event of ['online', 'offline']) addEventListener(event, poll)
    return () => {
      stop()
      for (const event of ['online', 'offline']) removeEventListener(event, poll)
    }
  }, [])

  const state = problem !== '' ? 'notReady' : readiness === undefined ? 'unknown' : 'ready'
  const parts = [
    readiness === undefined ? texts.product : `${texts.product} ${readiness.version}`,
    readiness && words.engine[readiness.engine],
    problem || words[state],
  ]
  return (
    <footer class="service">
      <span class={`state ${state}`}>{parts.filter(Boolean).join(' · ')}</span>
      <span class="links">
        <a href={`${BASE_URL}/docs`}>{words.reference}</a>
        <a href={`${BASE_URL}/openapi.json`}>{words.document}</a>
      </span>
    </footer>
  )
}

function problemOf(error: unknown): string {
  if (!(error instanceof RequestError)) return words.notReady
  const { code, kind } = error
  if (kind === 'connection') return words.noConnection
  if (code === STORAGE_GONE) return words.storageGone
  return code === SHUTTING_DOWN ? words.shuttingDown : words.notReady
}
