import { render, type VNode } from 'preact'
import { lazyPart } from './components/loading.ts'
import { frame } from './frame/frame.ts'
import { DIRECTION, LOCALE } from './messages/texts.ts'
import { requestTokenFromTabs, token } from './state/login.ts'
import './state/preferences.ts'
import { view } from './ui/tags.ts'

document.documentElement.lang = LOCALE
document.documentElement.dir = DIRECTION

const App = (): VNode => 
  token.value === null ? lazyPart(() => import('./frame/entrance.ts'), ({ entrance }) => entrance({})) : frame({})

await requestTokenFromTabs()
const root = document.getElementById('app')
if (root !== null) render(view(App)({}), root)
