import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { StoredPlant } from '../../../src/client/plant-store-client.ts'
import { PlantRow } from '../parts/plant-row.tsx'
import { texts } from '../parts/texts.ts'
import type { PlantPages } from './pages.ts'
import { PrintedPlants } from './printed-plants.tsx'
import { useArrowKeys } from './use-arrow-keys.ts'

/** Browsers limit the height of an element to some ten million pixels. Longer lists move a window of rows. */
const WINDOW_ROWS = 150_000
/** Rows that are rendered beyond both edges of the view. */
const OVERSCAN_ROWS = 10

export interface PlantsRowsProps {
  pages: PlantPages
  onOpen(plant: StoredPlant): void
  /** Called with the first id in view; undefined at the beginning of the list. */
  onMove(first: bigint | undefined): void
}

/** The virtual list: only rows near the view are in the document. */
export function PlantsRows({ pages, onOpen, onMove }: PlantsRowsProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const { rowHeight, viewHeight, clearHeight } = useSizes(scroller)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const base = useRef(pages.firstRow)

  const firstKnown = pages.firstRow
  const end = Math.min(pages.endRow, base.current + WINDOW_ROWS)
  const top = scroller.current?.scrollTop ?? 0
  const first = base.current + Math.floor(top / rowHeight)
  const viewEnd = Math.min(end, first + Math.ceil(viewHeight / rowHeight) + 1)

  // When the window moves, the scroll position changes by as much, so that rows stay where they are on the screen.
  const nextBase = baseFor(base.current, first, firstKnown, pages.endRow)
  const moved = (base.current - nextBase) * rowHeight
  base.current = nextBase
  useLayoutEffect(() => {
    if (moved !== 0 && scroller.current !== null) {
      scroller.current.scrollTop = top + moved
      redraw(undefined)
    }
  })
  // In a layout effect, so that missing rows are requested before the frame is drawn.
  useLayoutEffect(() => pages.show(first, viewEnd), [pages, first, viewEnd])
  useEffect(() => {
    const isAtTop = pages.hasBeginning && first <= firstKnown && top < rowHeight
    const timer = setTimeout(() => onMove(isAtTop ? undefined : pages.plantAt(first)?.id), 250)
    return () => clearTimeout(timer)
  }, [pages, first, viewEnd])

  function reveal(row: number) {
    const list = scroller.current
    if (list === null) return
    const y = (row - base.current) * rowHeight
    if (y < list.scrollTop) list.scrollTop = y
    else if (y + rowHeight > list.scrollTop + clearHeight) list.scrollTop = y + rowHeight - clearHeight
  }
  const { active, listeners } = useArrowKeys({ scroller, first: firstKnown, end: pages.endRow, reveal })
  // One tab stop for the whole list: the row that had the focus, or the first one in view.
  const isActiveInView = active !== undefined && active >= first && active < viewEnd
  const tabStop = isActiveInView ? active : Math.min(first + (top % rowHeight > 0 ? 1 : 0), end - 1)
  const from = Math.max(firstKnown, first - OVERSCAN_ROWS)
  const to = Math.min(end, viewEnd + OVERSCAN_ROWS)
  const rendered = rowsToRender(from, to, active)
  return (
    <>
      <div class="scroller" ref={scroller} onScroll={() => redraw(undefined)} {...listeners}>
        <ul
          class="rows"
          aria-label={texts.plants.list}
          style={{ height: `${(end - base.current) * rowHeight}px` }}
        >
          {rendered
            .filter((row) => row >= base.current && row < end)
            .map((row) => (
              <li
                key={row}
                class="row"
                data-row={row}
                aria-setsize={pages.isComplete ? pages.endRow - firstKnown : -1}
                aria-posinset={row - firstKnown + 1}
                style={{ transform: `translateY(${(row - base.current) * rowHeight}px)` }}
              >
                <PlantRow plant={pages.plantAt(row)} isTabStop={row === tabStop} onOpen={onOpen} />
              </li>
            ))}
        </ul>
      </div>
      <PrintedPlants pages={pages} first={from} end={to} />
    </>
  )
}

/** Rows from `from` to `to`, and the focused row, which would lose the focus otherwise. */
function rowsToRender(from: number, to: number, active: number | undefined): number[] {
  const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
  if (active !== undefined && (active < from || active >= to)) rows.push(active)
  return rows
}

/** The row at scroll position 0. In a long list it moves so that the view stays well inside the window. */
function baseFor(base: number, first: number, firstKnown: number, end: number): number {
  if (end - firstKnown <= WINDOW_ROWS) return firstKnown
  const isWell = first - base > WINDOW_ROWS / 8 && first - base < (WINDOW_ROWS * 7) / 8
  if (isWell || (base === firstKnown && first - base < WINDOW_ROWS / 2)) return base
  return Math.max(firstKnown, first - WINDOW_ROWS / 2)
}

/** Heights in pixels: of a row, of the view, and of the view without the room for notices. */
function useSizes(scroller: RefObject<HTMLElement | null>) {
  const [sizes, setSizes] = useState({ rowHeight: 52, viewHeight: innerHeight, clearHeight: innerHeight })
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    let known = element.clientHeight
    const measure = () => {
      // In print a table replaces the list.
      if (matchMedia('print').matches) return
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      const style = getComputedStyle(element)
      const rowRem = Number.parseFloat(style.getPropertyValue('--row-rem')) || 3.25
      keepFocusInView(element, known)
      known = element.clientHeight
      const clearHeight = known - Number.parseFloat(style.paddingBottom)
      setSizes({ rowHeight: Math.round(rowRem * rem), viewHeight: known, clearHeight })
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return sizes
}

/** Keeps a focused row in view when the list becomes lower. */
function keepFocusInView(list: HTMLElement, heightBefore: number): void {
  const row = list.querySelector(':focus')?.closest('.row')
  if (!row) return
  const beyond = row.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom
  if (beyond > 0 && beyond <= heightBefore - list.clientHeight) list.scrollTop += beyond
}
