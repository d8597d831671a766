import { render } from 'preact'
import type { VNode } from 'preact'
import { loadedLate } from './components/loading.ts'
import { frame } from './frame/frame.ts'
import { DIRECTION, LOCALE } from './messages/texts.ts'
import { askTabs, token } from './state/login.ts'
import './state/preferences.ts'
import { view } from './ui/tags.ts'

document.documentElement.lang = LOCALE
document.documentElement.dir = DIRECTION

const App = (): VNode => 
  token.value === null ? loadedLate(() => import('./frame/entrance.ts'), ({ entrance }) => entrance({})) : frame({})

await askTabs()
const root = document.getElementById('app')
if (root !== null) render(view(App)({}), root)
