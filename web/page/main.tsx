// First: what the views say of their own goes over it.
import './page.css'
import { render } from 'preact'
import { App } from './app.tsx'

const root = document.getElementById('page')
if (root !== null) render(<App />, root)
