// First: what the views say of their own goes over it.
import './app.css'
import { render } from 'preact'
import { App } from './app.tsx'
// Last: it goes over what the views say of their own.
import './narrow.css'
import './print.css'

const root = document.getElementById('page')
if (root !== null) render(<App />, root)

// A key that is held down longer than it was meant for would press what has the focus after it, again and again.
addEventListener(
  'keydown',
  (event) => {
    if (event.key === 'Enter' && event.repeat) event.preventDefault()
  },
  { capture: true },
)

// A file that is dropped where nothing takes it would be opened by the browser in the place of the page.
for (const kind of ['dragover', 'drop'] as const) {
  addEventListener(kind, (event) => {
    if (event.target instanceof HTMLInputElement || event.defaultPrevented) return
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
  })
}
