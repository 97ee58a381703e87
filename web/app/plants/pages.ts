import type { PlantFilter, PlantStoreClient, StoredPlant } from '../../../src/client/plant-store-client.ts'
import { isAbort } from '../parts/failure-text.ts'
import { createPageRows, type Page } from './page-rows.ts'
import { type FoundPage, findPreviousPage } from './previous-page.ts'

/** The page size: several screens, yet fast on a slow connection. */
const PAGE_PLANTS = 250
/** Rows to fetch ahead on both sides of the view. */
const AHEAD_ROWS = 3 * PAGE_PLANTS
/** Pages farther from the view are dropped, and fetched again when needed. */
const CACHED_ROWS = 6 * PAGE_PLANTS

export interface PlantPagesOptions {
  client: PlantStoreClient
  filter: Pick<PlantFilter, 'q' | 'tag'>
  /** The list begins at the first plant with this id or a greater one; undefined for the first plant. */
  startAt: bigint | undefined
  /** Called after every change of rows or state. */
  onChange(): void
}

/** A list of plants with only the part near the view in memory. Rows before its start have negative numbers. */
export class PlantPages {
  /** Whether the first request has ended. */
  isReady = false
  /** Why loading stopped; undefined if it did not. */
  failure: unknown
  #isHalted = false
  /** Whether the first known row is the first of the list. */
  hasBeginning: boolean
  /** Whether the last known row is the last of the list. */
  #hasEnd = false
  readonly #options: PlantPagesOptions
  readonly #controller = new AbortController()
  readonly #rows = createPageRows()
  /** `after` of the page that was loaded first. */
  readonly #start: bigint | undefined
  #view = { first: 0, end: 1 }
  #next: AsyncIterator<StoredPlant[]> | undefined
  #isLoadingNext = false
  #isLoadingPrevious = false
  /** Pages that are fetched again, each with its abort controller. */
  readonly #refills = new Map<Page, AbortController>()
  /** How many ids back to look for the previous page. */
  #span = BigInt(PAGE_PLANTS)

  constructor(options: PlantPagesOptions) {
    this.#options = options
    const { startAt } = options
    const start = startAt === undefined ? undefined : startAt - 1n
    this.#start = start !== undefined && BigInt.asIntN(64, start) === start ? start : undefined
    this.hasBeginning = this.#start === undefined
    this.#fill()
  }

  /** The first known row. */
  get firstRow(): number {
    return this.#rows.first()
  }

  /** The row after the last known one. */
  get endRow(): number {
    return this.#rows.end()
  }

  /** Whether every row is known. */
  get isComplete(): boolean {
    return this.#hasEnd && this.hasBeginning
  }

  /** Undefined while the plant is loading. */
  plantAt(row: number): StoredPlant | undefined {
    return this.#rows.plantAt(row)
  }

  /** Sets the rows in view, and loads what is missing near them. */
  show(first: number, end: number): void {
    this.#view = { first, end }
    this.#fill()
  }

  /** Resumes loading. `failure` stays until a request succeeds. */
  retry(): void {
    this.#isHalted = false
    this.#fill()
  }

  /** Replaces the plant with the same id, if it is in memory. */
  replace(plant: StoredPlant): void {
    this.#rows.replace(plant)
    this.#options.onChange()
  }

  remove(id: bigint): void {
    this.#rows.remove(id)
    this.#options.onChange()
  }

  stop(): void {
    this.#controller.abort()
  }

  #list(after: bigint | undefined, signal = this.#controller.signal): AsyncIterator<StoredPlant[]> {
    const { client, filter } = this.#options
    const list = client.listPlants({ ...filter, after, pageSize: PAGE_PLANTS, signal })
    return list.pages()[Symbol.asyncIterator]()
  }

  async #fetchAfter(after: bigint | undefined, signal?: AbortSignal): Promise<FoundPage> {
    const pages = this.#list(after, signal)
    const { value, done } = await pages.next()
    const plants: StoredPlant[] = done ? [] : value
    // A short page is not always the last one.
    return { plants, isEnd: plants.length < PAGE_PLANTS && (await pages.next()).done === true }
  }

  /** Runs one load, records its failure, then loads what is still missing. */
  async #load(work: () => Promise<void>, finish: () => void): Promise<void> {
    const { signal } = this.#controller
    try {
      await work()
      this.failure = undefined
    } catch (error) {
      if (signal.aborted) return
      if (!isAbort(error)) {
        this.failure = error
        this.#isHalted = true
        this.#next = undefined
      }
    }
    finish()
    if (signal.aborted) return
    this.isReady = true
    this.#fill()
    this.#options.onChange()
  }

  async #loadNext(): Promise<void> {
    // After a short page the iterator usually ends without another request.
    if ((await this.#appendNext()) < PAGE_PLANTS) await this.#appendNext()
  }

  async #appendNext(): Promise<number> {
    if (this.#hasEnd) return 0
    const after = this.#rows.lastId() ?? this.#start
    this.#next ??= this.#list(after)
    const { done, value } = await this.#next.next()
    if (done) this.#hasEnd = true
    else this.#rows.append({ after, plants: value })
    return done ? 0 : value.length
  }

  async #loadPrevious(): Promise<void> {
    const boundary = this.#rows.firstAfter() ?? this.#start
    if (boundary === undefined) return
    const found = await findPreviousPage((after) => this.#fetchAfter(after), boundary, this.#span)
    this.hasBeginning = found.after === undefined
    if (found.plants.length === 0) return
    this.#rows.prepend(found)
    this.#span = (found.span * BigInt(PAGE_PLANTS)) / BigInt(found.plants.length)
  }

  async #refill(page: Page, signal: AbortSignal): Promise<void> {
    const { plants, isEnd } = await this.#fetchAfter(page.after, signal)
    this.#rows.refill(page, plants, isEnd)
  }

  /** Fetches missing pages again, the nearest to the view first, and aborts fetches that are far from it by now. */
  #refillNear({ first, end }: { first: number; end: number }): void {
    const distance = (page: Page) => Math.max(page.first - end, first - page.first - page.count, 0)
    for (const [page, controller] of this.#refills) {
      if (distance(page) > CACHED_ROWS) controller.abort()
    }
    const missing = this.#rows.emptyPagesIn(first - AHEAD_ROWS, end + AHEAD_ROWS)
    for (const page of missing.sort((one, other) => distance(one) - distance(other))) {
      const controller = new AbortController()
      this.#refills.set(page, controller)
      page.isLoading = true
      this.#load(
        () => this.#refill(page, AbortSignal.any([controller.signal, this.#controller.signal])),
        () => {
          page.isLoading = false
          this.#refills.delete(page)
        },
      )
    }
  }

  /** Loads what is missing near the view, and drops what is far from it. */
  #fill(): void {
    if (this.#isHalted || this.#controller.signal.aborted) return
    const { first, end } = this.#view
    this.#refillNear(this.#view)
    this.#rows.forget(first - CACHED_ROWS, end + CACHED_ROWS)
    if (!this.#hasEnd && !this.#isLoadingNext && end + AHEAD_ROWS > this.endRow) {
      this.#isLoadingNext = true
      this.#load(
        () => this.#loadNext(),
        () => {
          this.#isLoadingNext = false
        },
      )
    }
    // The previous page is found relative to the first one.
    if (this.hasBeginning || this.#isLoadingPrevious || !this.isReady) return
    if (first - AHEAD_ROWS >= this.firstRow) return
    this.#isLoadingPrevious = true
    this.#load(
      () => this.#loadPrevious(),
      () => {
        this.#isLoadingPrevious = false
      },
    )
  }
}
