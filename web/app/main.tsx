// First: styles of the views override it.
import './app.css'
import { render } from 'preact'
import { App } from './app.tsx'
// Last: they override styles of the views.
import './narrow.css'
import './print.css'

const root = document.getElementById('page')
if (root !== null) render(<App />, root)

// A held Enter key would also press the element that has the focus next.
addEventListener(
  'keydown',
  (event) => {
    if (event.key === 'Enter' && event.repeat) event.preventDefault()
  },
  { capture: true },
)

// The browser would open a file that is dropped outside a drop target, in place of the web app.
for (const kind of ['dragover', 'drop'] as const) {
  addEventListener(kind, (event) => {
    if (event.target instanceof HTMLInputElement || event.defaultPrevented) return
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
  })
}
