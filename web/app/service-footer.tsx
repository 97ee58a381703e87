import { useEffect, useState } from 'preact/hooks'
import { createPlantStoreClient, type Readiness, RequestError } from '../../src/client/plant-store-client.ts'
import { texts } from './parts/texts.ts'
import { BASE_URL } from './session/session.ts'

const words = texts.footer
const ASK_EVERY_MS = 30_000
/** While something is wrong, so that its end is soon seen. */
const ASK_AGAIN_MS = 5_000
const TIMEOUT_MS = 5_000
const STORAGE_GONE = 50302
const SHUTTING_DOWN = 50303

/** How the service is, quietly, and where to read on. */
export function ServiceFooter() {
  const [known, setKnown] = useState<Readiness>()
  const [trouble, setTrouble] = useState('')

  useEffect(() => {
    const client = createPlantStoreClient({ baseUrl: BASE_URL, timeoutMs: TIMEOUT_MS })
    let timer: ReturnType<typeof setTimeout> | undefined
    let controller = new AbortController()
    function stop() {
      clearTimeout(timer)
      controller.abort()
    }
    async function ask() {
      stop()
      controller = new AbortController()
      const { signal } = controller
      try {
        setKnown(await client.getReadiness({ signal }))
        setTrouble('')
        timer = setTimeout(ask, ASK_EVERY_MS)
      } catch (error) {
        if (signal.aborted) return
        setTrouble(troubleIn(error))
        timer = setTimeout(ask, ASK_AGAIN_MS)
      }
    }
    void ask()
    for (const event of ['online', 'offline']) addEventListener(event, ask)
    return () => {
      stop()
      for (const event of ['online', 'offline']) removeEventListener(event, ask)
    }
  }, [])

  const state = trouble !== '' ? 'notReady' : known === undefined ? 'unknown' : 'ready'
  const told = [
    known === undefined ? texts.product : `${texts.product} ${known.version}`,
    known && words.engine[known.engine],
    trouble || words[state],
  ]
  return (
    <footer class="service">
      <span class={`state ${state}`}>{told.filter(Boolean).join(' · ')}</span>
      <span class="links">
        <a href={`${BASE_URL}/docs`}>{words.reference}</a>
        <a href={`${BASE_URL}/openapi.json`}>{words.document}</a>
      </span>
    </footer>
  )
}

function troubleIn(error: unknown): string {
  const code = error instanceof RequestError ? error.code : undefined
  if (code === STORAGE_GONE) return words.storageGone
  return code === SHUTTING_DOWN ? words.shuttingDown : words.notReady
}
