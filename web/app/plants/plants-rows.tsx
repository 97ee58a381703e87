import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { StoredPlant } from '../../../src/client/plant-store-client.ts'
import { PlantRow } from '../parts/plant-row.tsx'
import { texts } from '../parts/texts.ts'
import type { PlantPages } from './plant-pages.ts'
import { PrintedPlants } from './printed-plants.tsx'
import { useArrowKeys } from './use-arrow-keys.ts'

/** Browsers draw no element of much more than ten million pixels; farther on, the rows move beneath the window. */
const WINDOW_ROWS = 150_000
/** Rows that are drawn beyond both edges. */
const OVERSCAN_ROWS = 10

export interface PlantsRowsProps {
  pages: PlantPages
  onOpen(plant: StoredPlant): void
  /** Called with the first plant in view; undefined at the beginning of all. */
  onMove(first: bigint | undefined): void
}

/** The list itself: only the rows in view are in the document. */
export function PlantsRows({ pages, onOpen, onMove }: PlantsRowsProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const { rowHeight, viewHeight, clearHeight } = useSizes(scroller)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const base = useRef(pages.firstRow)

  const firstKnown = pages.firstRow
  const end = Math.min(pages.endRow, base.current + WINDOW_ROWS)
  const top = scroller.current?.scrollTop ?? 0
  const first = base.current + Math.floor(top / rowHeight)
  const behind = Math.min(end, first + Math.ceil(viewHeight / rowHeight) + 1)

  // The rows stay where they are on the screen while what scroll position they have changes.
  const wanted = baseFor(base.current, first, firstKnown, pages.endRow)
  const moved = (base.current - wanted) * rowHeight
  base.current = wanted
  useLayoutEffect(() => {
    if (moved !== 0 && scroller.current !== null) {
      scroller.current.scrollTop = top + moved
      redraw(undefined)
    }
  })
  // Before the frame is drawn: what is missing is asked for at once.
  useLayoutEffect(() => pages.show(first, behind), [pages, first, behind])
  useEffect(() => {
    const isAtTop = pages.hasBeginning && first <= firstKnown && top < rowHeight
    const timer = setTimeout(() => onMove(isAtTop ? undefined : pages.plantAt(first)?.id), 250)
    return () => clearTimeout(timer)
  }, [pages, first, behind])

  function reveal(row: number) {
    const list = scroller.current
    if (list === null) return
    const y = (row - base.current) * rowHeight
    if (y < list.scrollTop) list.scrollTop = y
    else if (y + rowHeight > list.scrollTop + clearHeight) list.scrollTop = y + rowHeight - clearHeight
  }
  const { active, listeners } = useArrowKeys({ scroller, first: firstKnown, end: pages.endRow, reveal })
  // Past a list without an end one would never come by the tab key: it stops once, where one was, or at the first in
  // view.
  const isActiveInView = active !== undefined && active >= first && active < behind
  const tabStop = isActiveInView ? active : Math.min(first + (top % rowHeight > 0 ? 1 : 0), end - 1)
  const from = Math.max(firstKnown, first - OVERSCAN_ROWS)
  const to = Math.min(end, behind + OVERSCAN_ROWS)
  const drawn = rowsToDraw(from, to, active)
  return (
    <>
      <div class="scroller" ref={scroller} onScroll={() => redraw(undefined)} {...listeners}>
        <ul
          class="rows"
          aria-label={texts.plants.list}
          style={{ height: `${(end - base.current) * rowHeight}px` }}
        >
          {drawn
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

/** Rows from `from` to `to`, and the one that has the focus, so that it is not lost. */
function rowsToDraw(from: number, to: number, active: number | undefined): number[] {
  const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
  if (active !== undefined && (active < from || active >= to)) rows.push(active)
  return rows
}

/** The row at scroll position 0: the first known one, or so that the view is well inside the window. */
function baseFor(base: number, first: number, firstKnown: number, end: number): number {
  if (end - firstKnown <= WINDOW_ROWS) return firstKnown
  const isWell = first - base > WINDOW_ROWS / 8 && first - base < (WINDOW_ROWS * 7) / 8
  if (isWell || (base === firstKnown && first - base < WINDOW_ROWS / 2)) return base
  return Math.max(firstKnown, first - WINDOW_ROWS / 2)
}

/** The height of a row, which follows the size of the text, of the view, and of its part beside notices. In pixels. */
function useSizes(scroller: RefObject<HTMLElement | null>) {
  const [sizes, setSizes] = useState({ rowHeight: 52, viewHeight: innerHeight, clearHeight: innerHeight })
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    let known = element.clientHeight
    const measure = () => {
      // On paper something else is in its place.
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

/** A row that has the focus, and was in view while the list was so high, still is where it has become lower. */
function keepFocusInView(list: HTMLElement, heightBefore: number): void {
  const row = list.querySelector(':focus')?.closest('.row')
  if (!row) return
  const beyond = row.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom
  if (beyond > 0 && beyond <= heightBefore - list.clientHeight) list.scrollTop += beyond
}
