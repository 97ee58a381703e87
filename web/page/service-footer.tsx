import { useEffect, useState } from 'preact/hooks'
import { createPlantStoreClient } from '../../src/client/plant-store-client.ts'
import { BASE_URL } from './session.ts'
import { texts } from './texts.ts'

const words = texts.footer
const ASK_EVERY_MS = 30_000
const TIMEOUT_MS = 5_000

/** How the service is, quietly, and where to read on. */
export function ServiceFooter() {
  const [version, setVersion] = useState('')
  const [isReady, setReady] = useState<boolean>()

  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const client = createPlantStoreClient({ baseUrl: BASE_URL, timeoutMs: TIMEOUT_MS })
    const ask = () =>
      client.getReadiness({ signal }).then(
        () => setReady(true),
        () => signal.aborted || setReady(false),
      )
    ask()
    const timer = setInterval(ask, ASK_EVERY_MS)
    readVersion(signal).then(setVersion, () => undefined)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [])

  const state = isReady === undefined ? 'unknown' : isReady ? 'ready' : 'notReady'
  return (
    <footer class="service">
      <span class={`state ${state}`}>{words[state]}</span>
      <span>{version && words.version(version)}</span>
      <a href={`${BASE_URL}/docs`}>{words.reference}</a>
      <a href={`${BASE_URL}/openapi.json`}>{words.document}</a>
    </footer>
  )
}

/** The document of the API is not one of the client's matters. */
async function readVersion(signal: AbortSignal): Promise<string> {
  const answer = await fetch(`${BASE_URL}/openapi.json`, { signal })
  const { info } = (await answer.json()) as { info: { version: string } }
  return info.version
}
