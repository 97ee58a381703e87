import type { StoredPlant } from '../../../src/client/plant-store-client.ts'

/** A page of the list. Its position is always known, its plants only near the view. */
export interface Page {
  /** Its plants come after this id; undefined for the first page. */
  after: bigint | undefined
  /** Its last id. */
  last: bigint
  /** The row of its first plant. */
  first: number
  count: number
  plants: StoredPlant[] | undefined
  isLoading: boolean
}

type NewPage = { after: bigint | undefined; plants: StoredPlant[] }

/** Adjacent pages in the order of their ids, and their rows. */
export function createPageRows() {
  const pages: Page[] = []
  /** The pages with plants in memory. */
  const filled = new Set<Page>()
  const first = () => pages[0]?.first ?? 0
  const end = () => {
    const last = pages.at(-1)
    return last === undefined ? 0 : last.first + last.count
  }
  function pageOf({ after, plants }: NewPage, firstRow: number): Page {
    const last = plants.at(-1)?.id ?? after ?? 0n
    const page = { after, last, first: firstRow, count: plants.length, plants, isLoading: false }
    filled.add(page)
    return page
  }
  return {
    first,
    end,
    /** The id of the last known row; undefined if there are no rows. */
    lastId: () => pages.at(-1)?.last,
    /** `after` of the first known page. */
    firstAfter: () => pages[0]?.after,
    append: (page: NewPage) => void pages.push(pageOf(page, end())),
    prepend: (page: NewPage) => void pages.unshift(pageOf(page, first() - page.plants.length)),
    refill(page: Page, plants: readonly StoredPlant[], isEnd: boolean) {
      filled.add(page)
      refillPage(pages, page, plants, isEnd)
    },
    plantAt(row: number): StoredPlant | undefined {
      const page = pages[pageIndexAt(pages, row)]
      return page?.plants?.[row - page.first]
    },
    emptyPagesIn: (from: number, to: number) => emptyPagesIn(pages, from, to),
    /** Drops the plants of pages outside the range. */
    forget(from: number, to: number) {
      for (const page of filled) {
        if (page.first + page.count >= from && page.first <= to) continue
        page.plants = undefined
        filled.delete(page)
      }
    },
    replace(plant: StoredPlant) {
      const found = pageWith(filled, plant.id)
      if (found !== undefined) found.plants[found.at] = plant
    },
    remove(id: bigint) {
      const found = pageWith(filled, id)
      if (found === undefined) return
      found.plants.splice(found.at, 1)
      found.page.count -= 1
      renumber(pages)
    },
  }
}

/** The index of the last page that begins at or before the row, or -1. */
function pageIndexAt(pages: readonly Page[], row: number): number {
  let low = 0
  let high = pages.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pages[middle]?.first ?? 0) <= row) low = middle + 1
    else high = middle
  }
  return low - 1
}

function renumber(pages: readonly Page[]): void {
  let row = pages[0]?.first ?? 0
  for (const page of pages) {
    page.first = row
    row += page.count
  }
}

function pageWith(filled: ReadonlySet<Page>, id: bigint) {
  for (const page of filled) {
    const { plants } = page
    const at = plants?.findIndex((plant) => plant.id === id) ?? -1
    if (plants !== undefined && at >= 0) return { plants, at, page }
  }
  return undefined
}

/** The pages without plants that have rows in the range and are not loading. */
function emptyPagesIn(pages: readonly Page[], from: number, to: number): Page[] {
  const found: Page[] = []
  for (let at = Math.max(0, pageIndexAt(pages, from)); at < pages.length; at++) {
    const page = pages[at]
    if (page === undefined || page.first >= to) break
    if (page.plants === undefined && !page.isLoading) found.push(page)
  }
  return found
}

/**
 * Stores the fetched plants of a page. Plants may have been deleted meanwhile. If so many were added that the fetched
 * ones do not reach its last id, the rest becomes a page of its own, without plants yet.
 */
function refillPage(pages: Page[], page: Page, plants: readonly StoredPlant[], isEnd: boolean): void {
  page.plants = plants.filter(({ id }) => id <= page.last)
  page.count = page.plants.length
  const reached = plants.at(-1)?.id ?? page.last
  if (reached < page.last && !isEnd) {
    const rest = { after: reached, last: page.last, first: 0, count: 0, plants: undefined, isLoading: false }
    pages.splice(pages.indexOf(page) + 1, 0, rest)
    page.last = reached
  }
  renumber(pages)
}
