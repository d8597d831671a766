import { type Captions, ended, NO_CAPTIONS, type TextFrame, withFrame } from '../../client/captions.ts'
import { type LiveFrame, openLiveSocket, type SocketEnd, type SocketState } from '../../client/live-socket.ts'
import { isOverlay, lookOf, paint } from './look.ts'
import { type Situation, statusOf } from './status.ts'

const MAX_LINES = 50
const MAX_TEXT_CHARS = 4000
/** After this time without text the page says that it waits for speech. */
const QUIET_MS = 30_000

const ENDED = 'The captions have ended.'
const ENDS: Readonly<Record<string, string>> = {
  finished: ENDED,
  session_finished: ENDED,
  token_revoked: 'These captions are no longer available.',
  refused: 'These captions cannot be shown: the link is wrong or no longer valid.',
}
const FAILED = 'The captions ended because of an error.'

const query = new URLSearchParams(location.search)
// The token is in the fragment, which browsers never send. It stays in the URL, so a reload works.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
const [, base = '', live = ''] = /^(.*)\/embed\/live\/(-?\d+)\/?$/.exec(location.pathname) ?? []

const byId = (id: string): HTMLElement => document.getElementById(id) ?? document.body
const [lines, partial, status] = [byId('lines'), byId('partial'), byId('status')]

/** The language to show; null shows the text as spoken. */
let language = query.get('language')
let look = lookOf(query)
let captions: Captions = NO_CAPTIONS
let situation: Situation = { connection: 'connecting', hasBegun: false, hasRecentText: false }
let isOver = false

/** True when people read this page itself. An overlay lies over a video, where status texts would disturb. */
const isForAudience = (): boolean => query.get('controls') === '1' || !isOverlay(look)

// Rendering. Texts become text nodes, never HTML.

/** Screen readers announce every change of the status, so an equal text is not set again. */
const setStatus = (text: string): void => {
  if (status.textContent !== text) status.textContent = text
}

const updateSituation = (changed: Partial<Situation>): void => {
  situation = { ...situation, ...changed }
  if (!isOver) setStatus(statusOf(situation, !isForAudience()))
}

const writeText = (element: HTMLElement, text: string, textLanguage: string): HTMLElement => {
  element.textContent = text.slice(-MAX_TEXT_CHARS).toWellFormed()
  element.lang = textLanguage
  return element
}

/** The lines on the page by key, oldest first. */
const shown = new Map<number, HTMLElement>()

const render = (): void => {
  const rows = captions.lines.flatMap((line) => {
    const isOriginal = language === null || line.language === language
    const text = isOriginal ? line.text : line.translations[language ?? '']
    const textLanguage = isOriginal ? line.language : String(language)
    return text === undefined ? [] : [{ key: line.key, text, textLanguage }]
  })
  const keys = new Set(rows.map(({ key }) => key))
  for (const [key, element] of shown) if (!keys.has(key) && shown.delete(key)) element.remove()
  let last: HTMLElement | null = null
  for (const { key, text, textLanguage } of rows) {
    const element: HTMLElement = shown.get(key) ?? writeText(document.createElement('p'), text, textLanguage)
    if (!shown.has(key)) {
      element.dir = 'auto'
      if (last === null) lines.prepend(element)
      else last.after(element)
      shown.set(key, element)
    }
    last = element
  }
  const { running } = captions
  if (running === null || (language !== null && running.language !== language)) partial.textContent = ''
  else writeText(partial, running.text, running.language)
}

let quietTimer: ReturnType<typeof setTimeout> | undefined
const noteText = (): void => {
  clearTimeout(quietTimer)
  const hasRecentText = shown.size > 0 || partial.textContent !== ''
  if (hasRecentText) quietTimer = setTimeout(() => updateSituation({ hasRecentText: false }), QUIET_MS)
  updateSituation({ hasRecentText })
}

const isShown = ({ type, language: spoken }: TextFrame): boolean =>
  (language === null ? type === 'transcription' : spoken === language)

let offerLanguages = (): void => undefined

const onFrame = (frame: LiveFrame): void => {
  if (frame.type === 'connection') {
    // The close of the socket reports the end of the session.
    if (frame.state === 'pending' || frame.state === 'active')
      updateSituation({ connection: 'open', hasBegun: frame.state === 'active' })
    return
  }
  if (frame.type === undefined && frame.status === 'started') return updateSituation({ hasBegun: true })
  if (frame.type !== 'transcription' && frame.type !== 'translation') return
  if (typeof frame.text !== 'string') return
  const next = withFrame(captions, frame)
  captions = { ...next, lines: next.lines.slice(-MAX_LINES) }
  render()
  if (isShown(frame)) noteText()
  if (frame.type === 'translation') offerLanguages()
}

// Connection.

/** Returns whether the service is ready for a socket. */
const isReady = async (): Promise<boolean> => {
  try {
    const response = await fetch(`${base}/embed/ready`, { signal: AbortSignal.timeout(10_000) })
    return response.ok && ((await response.json()) as { readonly ready: boolean }).ready
  } catch {
    return false
  }
}

const finish = ({ reason }: Pick<SocketEnd, 'reason'>): void => {
  isOver = true
  captions = ended(captions)
  render()
  setStatus(ENDS[reason] ?? FAILED)
}

const onState = (state: SocketState): void => {
  if (state.name === 'over') return finish(state.end)
  if (state.name !== 'waiting') return
  if (state.isRestart) return updateSituation({ connection: 'restarting' })
  updateSituation({ connection: situation.connection === 'open' ? 'broken' : 'lost' })
}

const connect = (): void => {
  const address = new URL(`${base}/ws/live/${live}`, location.href)
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  updateSituation({})
  openLiveSocket({
    url: address.href, token, cursor: () => captions.cursor, isReady, onFrame, onState,
    // Late readers see the last lines first. An overlay shows only new text, so it does not cover the video.
    ...(isForAudience() && { replay: MAX_LINES }),
  })
}

const showControls = async (): Promise<void> => {
  const { addControls } = await import('./controls.ts')
  offerLanguages = addControls({
    language, look,
    languages: () => Array.from(new Set(captions.lines.flatMap(({ translations }) => Object.keys(translations)))),
    choose: (chosen) => {
      language = chosen
      shown.clear()
      lines.replaceChildren()
      render()
      noteText()
    },
    paint: (chosen) => {
      look = chosen
      paint(look)
    },
  })
}

paint(look)
if (query.get('controls') === '1') void showControls()
if (token === '') setStatus('This link is incomplete: its token is missing.')
else connect()
