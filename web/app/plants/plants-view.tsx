import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { StoredPlant, TagCount } from '../../../src/client/plant-store-client.ts'
import { useImportDialog } from '../import/use-import-dialog.ts'
import { FailureBanner } from '../parts/failure-banner.tsx'
import { isAbort } from '../parts/failure-text.ts'
import { ExportIcon, ImportIcon } from '../parts/icons.tsx'
import type { Notify } from '../parts/notices.tsx'
import { texts } from '../parts/texts.ts'
import { PlantDialog } from '../plant/plant-dialog.tsx'
import type { Go } from '../session/place.ts'
import { type Place, placeUrl, readPlace } from '../session/place.ts'
import type { Session } from '../session/session.ts'
import { ExportDialog } from './export-dialog.tsx'
import type { PlantPages } from './pages.ts'
import { PlantsRows } from './rows.tsx'
import { TAGS_MAX } from './tag-filter.tsx'
import { PlantsToolbar } from './toolbar.tsx'
import { usePlants } from './use-plants.ts'
import './plants.css'

const words = texts.plants

export interface PlantsViewProps {
  session: Session
  place: Place
  go: Go
  notify: Notify
}

/** The subject of the open dialog: a new object each time, so that a late response closes only its own dialog. */
interface OpenPlant {
  /** Undefined for a new plant. */
  plant: StoredPlant | undefined
}

/** All plants, in the order of their ids. */
export function PlantsView({ session, place, go, notify }: PlantsViewProps) {
  const [epoch, setEpoch] = useState({})
  const { pages, shown, isSlow } = usePlants(session.client, place, epoch)
  const [open, setOpen] = useState<OpenPlant>()
  const [isExporting, setExporting] = useState(false)
  const imports = useImportDialog(notify)
  const mayWrite = session.may('plants:write')
  const tags = useTags(session, epoch)
  const plants = useRef<HTMLDivElement>(null)

  function show(at: bigint | undefined) {
    go({ at }, 'replace')
    setEpoch({})
    bringIntoView()
  }
  /** With very large text the page scrolls, and the list may be below the window. */
  const bringIntoView = () => plants.current?.scrollIntoView({ block: 'end' })
  async function jump(id: bigint) {
    go({ q: '', tag: undefined, at: id })
    setEpoch({})
    bringIntoView()
    const text = await session.client.getPlant(id).then(
      (plant) => (plant === undefined ? words.notThere(id) : words.atId(id)),
      () => undefined,
    )
    if (text !== undefined) notify({ text, kind: 'place' })
  }

  return (
    <div ref={plants} class={imports.isOver ? 'plants over' : 'plants'} {...(mayWrite && imports.dropping)}>
      <div class="plants-head">
        <h1 class="wide-words">{words.title}</h1>
        <Count pages={pages} isSlow={isSlow} place={place} tags={tags} />
        <button type="button" class="iconic" onClick={() => setExporting(true)}>
          <ExportIcon />
          <span class="wide-words">{texts.export.open}</span>
        </button>
        {mayWrite && (
          <>
            <button type="button" class="iconic" onClick={() => imports.open(undefined)}>
              <ImportIcon />
              <span class="wide-words">{texts.import.open}</span>
            </button>
            <button type="button" class="main" onClick={() => setOpen({ plant: undefined })}>
              {words.add}
            </button>
          </>
        )}
      </div>
      <PlantsToolbar place={place} tags={tags} go={go} onJump={jump} />
      <div class="row-names" aria-hidden="true">
        <span class="cell name">{words.name}</span>
        <span class="cell tag">{words.tag}</span>
        <span class="cell id">{words.id}</span>
        <span class="cell changed">{words.changed}</span>
      </div>
      <PlantsBody
        key={shown}
        pages={pages}
        place={place}
        go={go}
        onOpen={(plant) => setOpen({ plant })}
        firstSteps={
          mayWrite && (
            <span class="buttons">
              <button type="button" onClick={() => setOpen({ plant: undefined })}>
                {words.addFirst}
              </button>
              <button type="button" onClick={() => imports.open(undefined)}>
                {words.bringFile}
              </button>
            </span>
          )
        }
      />
      {isExporting && (
        <ExportDialog client={session.client} place={place} onClose={() => setExporting(false)} />
      )}
      {imports.dialog !== undefined && (
        <imports.dialog.Dialog
          session={session}
          file={imports.dialog.file}
          onStored={() => setEpoch({})}
          onClose={imports.close}
        />
      )}
      {open !== undefined && (
        <PlantDialog
          session={session}
          plant={open.plant}
          tags={tags}
          notify={notify}
          onClose={() => setOpen((now) => (now === open ? undefined : now))}
          onAdded={(id) => show(id)}
          onUpdated={(plant) => pages?.replace(plant)}
          onDeleted={(id) => pages?.remove(id)}
        />
      )}
    </div>
  )
}

interface PlantsBodyProps {
  pages: PlantPages | undefined
  place: Place
  go: Go
  onOpen(plant: StoredPlant): void
  /** Buttons for an empty store; false if the token cannot add plants. */
  firstSteps: ComponentChildren
}

function PlantsBody({ pages, place, go, onOpen, firstSteps }: PlantsBodyProps) {
  if (pages === undefined) return <p class="empty">{words.loading}</p>
  const hasRows = pages.endRow > pages.firstRow
  const isEmpty = pages.isReady && pages.isComplete && !hasRows
  const banner = <FailureBanner failure={pages.failure} retry={() => pages.retry()} isBeneath={hasRows} />
  return (
    <>
      {!hasRows && banner}
      {isEmpty ? (
        <EmptyList place={place} go={go} firstSteps={firstSteps} />
      ) : (
        <PlantsRows
          pages={pages}
          onOpen={onOpen}
          onMove={(at) => history.replaceState(null, '', placeUrl({ ...readPlace(), at }))}
        />
      )}
      {hasRows && banner}
    </>
  )
}

function EmptyList({ place, go, firstSteps }: Pick<PlantsBodyProps, 'place' | 'go' | 'firstSteps'>) {
  const isFiltered = place.q !== '' || place.tag !== undefined
  if (!isFiltered) {
    return (
      <div class="empty">
        {`${words.empty} ${firstSteps ? words.emptyHint : words.emptyReader}`}
        {firstSteps}
      </div>
    )
  }
  return (
    <div class="empty">
      {words.noMatch}
      <span class="buttons">
        <button type="button" onClick={() => go({ q: '', tag: undefined, at: undefined })}>
          {words.clear}
        </button>
      </span>
    </div>
  )
}

/** “Loading …” for a slow list, or the number of plants if known: all are loaded, or the filter is only a tag. */
function Count({
  pages,
  isSlow,
  place,
  tags,
}: {
  pages: PlantPages | undefined
  isSlow: boolean
  place: Place
  tags: readonly TagCount[]
}) {
  const tagged = place.q === '' ? tags.find(({ tag }) => tag === place.tag) : undefined
  const isKnown = pages?.isReady && pages.failure === undefined
  let text = ''
  // Without a list, its place says so.
  if (isSlow && pages !== undefined) text = words.loading
  else if (isKnown && pages.isComplete) text = words.count(pages.endRow - pages.firstRow)
  else if (isKnown && tagged !== undefined) text = words.count(tagged.count)
  return (
    <span class="count" role="status">
      {text}
    </span>
  )
}

function useTags({ client }: Session, epoch: unknown): readonly TagCount[] {
  const [tags, setTags] = useState<readonly TagCount[]>([])
  useEffect(() => {
    const controller = new AbortController()
    client.listTags({ limit: TAGS_MAX, signal: controller.signal }).then(setTags, (error: unknown) => {
      // The list shows the same failure. The filter works without tags.
      if (!isAbort(error)) setTags([])
    })
    return () => controller.abort()
  }, [client, epoch])
  return tags
}
