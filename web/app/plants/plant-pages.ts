import type { PlantFilter, PlantStoreClient, StoredPlant } from '../../../src/client/plant-store-client.ts'
import { isAbort } from '../parts/failure-text.ts'
import { createPageRows, type Page } from './page-rows.ts'
import { type FoundPage, findPreviousPage } from './previous-page.ts'

/** So many plants are asked for at a time: some screens, and quick on a slow line. */
const PAGE_PLANTS = 250
/** Rows on both sides of the view that are fetched before somebody gets there. */
const AHEAD_ROWS = 3 * PAGE_PLANTS
/** Pages farther from the view than this are forgotten, and fetched again when they are needed. */
const KEPT_ROWS = 6 * PAGE_PLANTS

export interface PlantPagesOptions {
  client: PlantStoreClient
  filter: Pick<PlantFilter, 'q' | 'tag'>
  /** The list begins at the first plant with this id or a greater one; undefined for the first of all. */
  startAt: bigint | undefined
  /** Something is another than it was. */
  onChange(): void
}

/** A list of plants of which only what is near the view is in memory. Rows before where it began are negative. */
export class PlantPages {
  /** Whether the first answer is there, or none comes. */
  isReady = false
  /** Why nothing more is fetched; undefined while all is well. */
  failure: unknown
  #isHalted = false
  /** Whether the first known row is the first of all, and the last known the last. */
  hasBeginning: boolean
  #hasEnd = false
  readonly #parts: PlantPagesOptions
  readonly #controller = new AbortController()
  readonly #rows = createPageRows()
  /** What the first page comes behind. */
  readonly #start: bigint | undefined
  #view = { first: 0, end: 1 }
  #next: AsyncIterator<StoredPlant[]> | undefined
  #isNextUnderWay = false
  #isEarlierUnderWay = false
  /** Pages that are fetched again, and what cancels that. */
  readonly #refills = new Map<Page, AbortController>()
  /** How far back a page before the first is looked for. */
  #span = BigInt(PAGE_PLANTS)

  constructor(parts: PlantPagesOptions) {
    this.#parts = parts
    const { startAt } = parts
    const start = startAt === undefined ? undefined : startAt - 1n
    this.#start = start !== undefined && BigInt.asIntN(64, start) === start ? start : undefined
    this.hasBeginning = this.#start === undefined
    this.#fill()
  }

  /** The first known row. */
  get firstRow(): number {
    return this.#rows.first()
  }

  /** The row behind the last known one. */
  get endRow(): number {
    return this.#rows.end()
  }

  /** Whether every row is known. */
  get isComplete(): boolean {
    return this.#hasEnd && this.hasBeginning
  }

  /** Undefined while the plant is fetched. */
  plantAt(row: number): StoredPlant | undefined {
    return this.#rows.plantAt(row)
  }

  /** Says which rows are in view. */
  show(first: number, end: number): void {
    this.#view = { first, end }
    this.#fill()
  }

  /** Goes on after a failure, which is told of until something is there. */
  retry(): void {
    this.#isHalted = false
    this.#fill()
  }

  /** Puts a plant in the place of the one with its id, where that is in memory. */
  replace(plant: StoredPlant): void {
    this.#rows.replace(plant)
    this.#parts.onChange()
  }

  remove(id: bigint): void {
    this.#rows.remove(id)
    this.#parts.onChange()
  }

  stop(): void {
    this.#controller.abort()
  }

  #list(after: bigint | undefined, signal = this.#controller.signal): AsyncIterator<StoredPlant[]> {
    const { client, filter } = this.#parts
    const list = client.listPlants({ ...filter, after, pageSize: PAGE_PLANTS, signal })
    return list.pages()[Symbol.asyncIterator]()
  }

  async #fetchAfter(after: bigint | undefined, signal?: AbortSignal): Promise<FoundPage> {
    const pages = this.#list(after, signal)
    const { value, done } = await pages.next()
    const plants: StoredPlant[] = done ? [] : value
    // A page may be short and not the last.
    return { plants, isEnd: plants.length < PAGE_PLANTS && (await pages.next()).done === true }
  }

  /** Loads in one way, and looks again afterwards what is missing. */
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
    this.#parts.onChange()
  }

  async #loadNext(): Promise<void> {
    // A short page is the last one, most likely: to ask on costs no request then, and tells that it is.
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

  async #loadEarlier(): Promise<void> {
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

  /** Fetches again what is missing near the view, what is in it first. Nothing waits for what was only passed by. */
  #refillNear({ first, end }: { first: number; end: number }): void {
    const distance = (page: Page) => Math.max(page.first - end, first - page.first - page.count, 0)
    for (const [page, controller] of this.#refills) {
      if (distance(page) > KEPT_ROWS) controller.abort()
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

  /** Fetches what is missing near the view, and forgets what is far from it. */
  #fill(): void {
    if (this.#isHalted || this.#controller.signal.aborted) return
    const { first, end } = this.#view
    this.#refillNear(this.#view)
    this.#rows.forget(first - KEPT_ROWS, end + KEPT_ROWS)
    if (!this.#hasEnd && !this.#isNextUnderWay && end + AHEAD_ROWS > this.endRow) {
      this.#isNextUnderWay = true
      this.#load(
        () => this.#loadNext(),
        () => {
          this.#isNextUnderWay = false
        },
      )
    }
    // Not before there is something to stand on.
    if (this.hasBeginning || this.#isEarlierUnderWay || !this.isReady) return
    if (first - AHEAD_ROWS >= this.firstRow) return
    this.#isEarlierUnderWay = true
    this.#load(
      () => this.#loadEarlier(),
      () => {
        this.#isEarlierUnderWay = false
      },
    )
  }
}
