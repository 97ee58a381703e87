import { parseId } from '../parts/parse-id.ts'

export const VIEWS = ['plants', 'collection', 'tokens'] as const
export type View = (typeof VIEWS)[number]

/** The view and its filter, as in the URL: Back, a reload and a shared link lead to it. */
export interface Place {
  view: View
  /** Words to search in names; '' for no search. */
  q: string
  /** The exact tag to filter by; undefined for all plants. */
  tag: string | undefined
  /** The list is scrolled to the first plant with this id or a greater one. */
  at: bigint | undefined
}

export function readPlace(search = location.search): Place {
  const query = new URLSearchParams(search)
  const view = VIEWS.find((one) => one === query.get('view')) ?? 'plants'
  return {
    view,
    q: query.get('q')?.trim() ?? '',
    tag: query.get('tag') ?? undefined,
    at: parseId(query.get('at') ?? ''),
  }
}

export function placeUrl({ view, q, tag, at }: Place): string {
  const query = new URLSearchParams()
  if (view !== 'plants') query.set('view', view)
  if (q !== '') query.set('q', q)
  if (tag !== undefined) query.set('tag', tag)
  if (at !== undefined) query.set('at', String(at))
  const text = String(query)
  return `${location.pathname}${text && `?${text}`}`
}

/** Navigates: pushes a new entry to the history, or replaces the current one. */
export type Go = (change: Partial<Place>, how?: 'push' | 'replace') => void
