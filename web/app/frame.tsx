import { useEffect, useRef, useState } from 'preact/hooks'
import { CollectionView } from './collection/collection-view.tsx'
import { isDialogOpen } from './parts/dialog.tsx'
import { SignOutIcon } from './parts/icons.tsx'
import { Notices, useNotices } from './parts/notices.tsx'
import { texts } from './parts/texts.ts'
import { useKeptFocus } from './parts/use-kept-focus.ts'
import { PlantsView } from './plants/plants-view.tsx'
import { ServiceFooter } from './service-footer.tsx'
import { type Go, placeUrl, readPlace, VIEWS, type View } from './session/place.ts'
import { BASE_URL, type Session } from './session/session.ts'
import { TokensView } from './tokens/tokens-view.tsx'
import './frame.css'

const words = texts.nav
const SCOPE_OF_VIEW = { plants: 'plants:read', collection: 'plants:read', tokens: 'tokens:manage' } as const
const NAME_OF_VIEW: Record<View, string> = {
  plants: words.plants,
  collection: words.collection,
  tokens: words.tokens,
}

interface FrameProps {
  session: Session
  /** Whether the content gets the focus, because the sign-in form had it. */
  isFirst: boolean
  onSignOut(): void
}

/** The header, the current view, the footer and the notices. */
export function Frame({ session, isFirst, onSignOut }: FrameProps) {
  const [place, setPlace] = useState(() => readPlace())
  // Back and Forward mount the list again, at the position of its URL.
  const [visit, setVisit] = useState(0)
  const { notices, notify, dismiss } = useNotices()
  const content = useRef<HTMLElement>(null)
  useKeptFocus(content)
  const views = VIEWS.filter((view) => session.may(SCOPE_OF_VIEW[view]))
  const view = views.includes(place.view) ? place.view : (views[0] ?? 'plants')

  useEffect(() => {
    const follow = () => {
      if (isDialogOpen()) return
      setPlace(readPlace())
      setVisit((count) => count + 1)
    }
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  useEffect(() => {
    if (isFirst) content.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    document.title = `${NAME_OF_VIEW[view]} · ${texts.product}`
  }, [view])

  const go: Go = (change, how = 'push') => {
    // From the URL: the list stores its scroll position there.
    const next = { ...readPlace(), ...change }
    history[how === 'push' ? 'pushState' : 'replaceState'](null, '', placeUrl(next))
    setPlace(next)
  }

  return (
    <div class="frame">
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <Header session={session} views={views} view={view} go={go} onSignOut={onSignOut} />
      <main id="content" tabIndex={-1} ref={content}>
        {view === 'plants' && (
          <PlantsView key={visit} session={session} place={place} go={go} notify={notify} />
        )}
        {view === 'collection' && <CollectionView session={session} go={go} />}
        {view === 'tokens' && <TokensView session={session} notify={notify} />}
      </main>
      <ServiceFooter />
      <Notices notices={notices} dismiss={dismiss} />
    </div>
  )
}

interface HeaderProps {
  session: Session
  views: readonly View[]
  view: View
  go: Go
  onSignOut(): void
}

function Header({ session, views, view, go, onSignOut }: HeaderProps) {
  function follow(event: MouseEvent, to: View) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go({ view: to })
  }
  const isReader = session.may('plants:read') && !session.may('plants:write')
  const label = session.token.label || words.noLabel
  return (
    <header class="top">
      <span class="brand">
        <img src={`${BASE_URL}/docs/leaf.svg`} alt="" width="28" height="28" />
        <span class="wide-words">{texts.product}</span>
      </span>
      <nav aria-label={words.label}>
        {views.map((one) => (
          <a
            key={one}
            href={placeUrl({ view: one, q: '', tag: undefined, at: undefined })}
            aria-current={one === view ? 'page' : undefined}
            onClick={(event) => follow(event, one)}
          >
            {NAME_OF_VIEW[one]}
          </a>
        ))}
      </nav>
      <span class="who" title={words.signedInAs(label)}>
        <bdi>{label}</bdi>
        {isReader && ` · ${words.readOnly}`}
      </span>
      <button type="button" class="iconic" onClick={onSignOut}>
        <SignOutIcon />
        <span class="wide-words">{words.signOut}</span>
      </button>
    </header>
  )
}
