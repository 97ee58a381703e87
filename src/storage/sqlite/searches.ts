import { AppError } from '../../errors.ts'
import { BoundedQueue } from '../../load/bounded-queue.ts'
import type { PlantPage, PlantQuery, PlantStore, ReadOptions } from '../../plants/plant-store.ts'
import { storageError } from './connection/failure.ts'
import type { SearchReply, SearchRequest } from './searcher/searcher.ts'
import type { Thread } from './threads/thread.ts'

/** The running search and the next one, which starts without a pause. */
const SEARCHES_IN_THREAD = 2

/** 256 with those in the thread: searches take longer than pages, so with more the last one would wait for seconds. */
const QUEUED_SEARCHES_MAX = 254

/** Reads that may take long. They share a thread. */
export interface Searches extends Pick<PlantStore, 'countTags' | 'countAdditions'> {
  /** Returns a page of the plants whose names match. */
  search(query: PlantQuery & { words: readonly string[] }, options?: ReadOptions): Promise<PlantPage>
  /** Rejects the searches that are queued. */
  close(): void
}

export function createSearches(searcher: Thread<SearchRequest, SearchReply>): Searches {
  const queue = new BoundedQueue({
    slots: SEARCHES_IN_THREAD,
    queuedMax: QUEUED_SEARCHES_MAX,
    overloaded: new AppError(50301, 'Too many searches are queued. Retry in a moment.', {
      reason: 'queued-reads',
    }),
  })

  async function request(message: SearchRequest, options?: ReadOptions): Promise<SearchReply> {
    const reply = await queue.run(
      () =>
        searcher.call(message).catch((cause: unknown) => {
          // The storage was closed.
          throw storageError(cause)
        }),
      options,
    )
    if ('failure' in reply) throw storageError(new Error(reply.failure))
    return reply
  }

  return {
    async search(query, options) {
      const reply = await request({ kind: 'search', query }, options)
      return (reply as Extract<SearchReply, { page: unknown }>).page
    },
    async countTags(limit, options) {
      const reply = await request({ kind: 'count-tags', limit }, options)
      return (reply as Extract<SearchReply, { tags: unknown }>).tags
    },
    async countAdditions(afterId, limit) {
      const reply = await request({ kind: 'count-additions', afterId, limit })
      return (reply as Extract<SearchReply, { additions: unknown }>).additions
    },
    close: () => queue.close(new AppError(50302, 'The storage is closed.')),
  }
}
