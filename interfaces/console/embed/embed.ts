import { ended, NO_CAPTIONS, withFrame } from '../../client/captions.ts'
import type { Captions, TextFrame } from '../../client/captions.ts'
import { openLiveSocket } from '../../client/live-socket.ts'
import type { LiveFrame, SocketEnd, SocketState } from '../../client/live-socket.ts'
import { isOverlay, lookOf, paint } from './look.ts'
import { statusOf } from './status.ts'
import type { Situation } from './status.ts'

const MOST_LINES = 50
const LONGEST_TEXT = 4000
/** After so long without text people ask themselves whether it still works. */
const QUIET_MS = 30_000

const ENDED = 'The captions have ended.'
const ENDS: Readonly<Record<string, string>> = {
  finished: ENDED,
  session_finished: ENDED,
  token_revoked: 'These captions are no longer available.',
  refused: 'These captions cannot be shown: the link is wrong or no longer valid.',
}
const BROKEN = 'The captions ended because of a fault.'

const query = new URLSearchParams(location.search)
// In the fragment it reaches no server and no log but the handshake's, which masks it; it stays there for a reload.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
const [, base = '', live = ''] = /^(.*)\/embed\/live\/(-?\d+)\/?$/.exec(location.pathname) ?? []

const byId = (id: string): HTMLElement => document.getElementById(id) ?? document.body
const [lines, partial, status] = [byId('lines'), byId('partial'), byId('status')]

/** Null is what was said, in whatever language. */
let language = query.get('language')
let look = lookOf(query)
let captions: Captions = NO_CAPTIONS
let situation: Situation = { connection: 'connecting', hasBegun: false, isSpoken: false }
let isOver = false

/** For people who read nothing but this page: an overlay lies over a picture, where words about it would disturb. */
const isForAudience = (): boolean => query.get('controls') === '1' || !isOverlay(look)

// What it shows: text nodes only.

/** A text that is said twice would be read out twice. */
const say = (text: string): void => {
  if (status.textContent !== text) status.textContent = text
}

const know = (known: Partial<Situation>): void => {
  situation = { ...situation, ...known }
  if (!isOver) say(statusOf(situation, !isForAudience()))
}

const write = (element: HTMLElement, text: string, spoken: string): HTMLElement => {
  element.textContent = text.slice(-LONGEST_TEXT).toWellFormed()
  element.lang = spoken
  return element
}

/** Lines that are on the page, oldest first. */
const shown = new Map<number, HTMLElement>()

const draw = (): void => {
  const rows = captions.lines.flatMap((line) => {
    const isAsked = language === null || line.language === language
    const text = isAsked ? line.text : line.translations[language ?? '']
    return text === undefined ? [] : [{ key: line.key, text, spoken: isAsked ? line.language : String(language) }]
  })
  const keys = new Set(rows.map(({ key }) => key))
  for (const [key, element] of shown) if (!keys.has(key) && shown.delete(key)) element.remove()
  let last: HTMLElement | null = null
  for (const { key, text, spoken } of rows) {
    const element: HTMLElement = shown.get(key) ?? write(document.createElement('p'), text, spoken)
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
  else write(partial, running.text, running.language)
}

let quiet: ReturnType<typeof setTimeout> | undefined
const lookForText = (): void => {
  clearTimeout(quiet)
  const isSpoken = shown.size > 0 || partial.textContent !== ''
  if (isSpoken) quiet = setTimeout(() => know({ isSpoken: false }), QUIET_MS)
  know({ isSpoken })
}

const isShown = ({ type, language: spoken }: TextFrame): boolean =>
  (language === null ? type === 'transcription' : spoken === language)

let offerLanguages = (): void => undefined

const hear = (frame: LiveFrame): void => {
  if (frame.type === 'connection') {
    // What is over is told by the close that follows.
    if (frame.state === 'pending' || frame.state === 'active')
      know({ connection: 'open', hasBegun: frame.state === 'active' })
    return
  }
  if (frame.type === undefined && frame.status === 'started') return know({ hasBegun: true })
  if (frame.type !== 'transcription' && frame.type !== 'translation') return
  if (typeof frame.text !== 'string') return
  const next = withFrame(captions, frame)
  captions = { ...next, lines: next.lines.slice(-MOST_LINES) }
  draw()
  if (isShown(frame)) lookForText()
  if (frame.type === 'translation') offerLanguages()
}

// How it stays connected.

/** Does the service answer, and could it take a socket? */
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
  draw()
  say(ENDS[reason] ?? BROKEN)
}

const follow = (state: SocketState): void => {
  if (state.name === 'over') return finish(state.end)
  if (state.name !== 'waiting') return
  if (state.isRestart) return know({ connection: 'restarting' })
  know({ connection: situation.connection === 'open' ? 'broken' : 'lost' })
}

const connect = (): void => {
  const address = new URL(`${base}/ws/live/${live}`, location.href)
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  know({})
  openLiveSocket({
    url: address.href, token, cursor: () => captions.cursor, isReady, onFrame: hear, onState: follow,
    // Who comes late or loads the page again reads what was said last; a picture is not covered with it.
    ...(isForAudience() && { replay: MOST_LINES }),
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
      draw()
      lookForText()
    },
    paint: (chosen) => {
      look = chosen
      paint(look)
    },
  })
}

paint(look)
if (query.get('controls') === '1') void showControls()
if (token === '') say('This link is incomplete: its token is missing.')
else connect()
