'use strict'

const MOST_LINES = 50
const LONGEST_TEXT = 4000
const COLOUR = /^(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$/
/** Milliseconds. */
const PING_EVERY = 20_000
const [FIRST_WAIT, LONGEST_WAIT] = [1000, 30_000]
/** The service answers and takes no socket: after so many times it never will. */
const MOST_REFUSALS = 4

const REFUSED = 'These captions cannot be shown: the link is wrong or no longer valid.'
const ENDED = 'The captions have ended.'
const BROKEN = 'The captions ended because of a fault.'
const FINAL_ERRORS = {
  session_finished: ENDED,
  token_revoked: 'These captions are no longer available.',
  engine_failed: BROKEN,
  model_load_failed: BROKEN,
  source_failed: BROKEN,
}

const query = new URLSearchParams(location.search)
// In the fragment it reaches no server and no log but the handshake's, which masks it; it stays there for a reload.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
const language = query.get('language')
const [, base, live] = /^(.*)\/embed\/live\/(-?\d+)\/?$/.exec(location.pathname)
const [lines, partial, status] = ['lines', 'partial', 'status'].map((id) => document.getElementById(id))

// How it looks. The service has checked the values already, but no page of another origin is to be trusted with a style.

/** Red, green, blue and opacity, each 0 to 255. */
const channelsOf = (digits) => {
  const long = digits.length < 5 ? Array.from(digits, (digit) => digit + digit).join('') : digits
  return long.padEnd(8, 'f').match(/../g).map((pair) => Number.parseInt(pair, 16))
}
const isDark = ([red, green, blue]) => 0.299 * red + 0.587 * green + 0.114 * blue < 140
const colourOf = (name) => (COLOUR.test(query.get(name) ?? '') ? query.get(name) : null)

const paint = () => {
  const [background, given] = [colourOf('background_color'), colourOf('color_text')]
  const isOverlay = background === null || channelsOf(background)[3] < 128
  const text = given ?? (isOverlay || isDark(channelsOf(background)) ? 'fff' : '000')
  const size = /^\d{1,3}$/.test(query.get('size_text') ?? '') ? Number(query.get('size_text')) : null
  const { style, classList } = document.documentElement
  if (background !== null) style.setProperty('--background', `#${background}`)
  style.setProperty('--text', `#${text}`)
  style.setProperty('--outline', isDark(channelsOf(text)) ? '#fff' : '#000')
  if (size !== null && size >= 8 && size <= 200) style.setProperty('--size', `${size}px`)
  classList.toggle('overlay', isOverlay)
}

// What it shows: text nodes only.

const say = (text) => {
  status.textContent = text
}

const write = (element, { text, language: spoken }) => {
  element.textContent = text.slice(-LONGEST_TEXT).toWellFormed()
  element.lang = String(spoken)
  return element
}

/** Lines that are on the page by segment, oldest first. */
const shown = new Map()
/** The last segment that was final, where the service numbers them: what was missed is asked for from there. */
let cursor = null
/** A frame without number (COMPAT_STRICT) that later ones may replace. */
let open = null

const clear = () => {
  partial.textContent = ''
  open = null
}

const add = (key, frame) => {
  if (shown.has(key)) return
  const line = write(document.createElement('p'), frame)
  line.dir = 'auto'
  lines.append(line)
  shown.set(key, line)
  if (shown.size <= MOST_LINES) return
  const [oldest] = shown.keys()
  shown.get(oldest).remove()
  shown.delete(oldest)
}

/** Nothing says whether it is final: what overlaps the line before it replaces it. */
const showUnnumbered = (frame) => {
  if (open !== null && frame.start >= open.end) add(open.start, open)
  open = frame
  write(partial, frame)
}

const show = (frame) => {
  // A phrase may have been taken for this language until it was heard as another.
  if (language !== null && frame.type === 'transcription' && frame.final === true) clear()
  if (typeof frame.text !== 'string' || (language === null ? frame.type !== 'transcription' : frame.language !== language)) return
  say('')
  if (frame.segment === undefined) return showUnnumbered(frame)
  if (frame.final === false) return write(partial, frame)
  clear()
  add(frame.segment, frame)
  cursor = Math.max(cursor ?? 0, frame.segment)
}

// How it stays connected.

let isOver = false
let failures = 0
let refusals = 0
/** Waits longer than usual: the service said that it restarts. */
let isRestarting = false

const finish = (text) => {
  isOver = true
  if (open !== null) add(open.start, open)
  clear()
  say(text)
}

/** Does the service answer, and could it take a socket? */
const isServiceReady = async () => {
  try {
    const response = await fetch(`${base}/embed/ready`, { signal: AbortSignal.timeout(10_000) })
    return response.ok && (await response.json()).ready === true
  } catch {
    return false
  }
}

const wait = () => {
  const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures)
  const delay = isRestarting ? 5000 + Math.random() * 25_000 : longest * (0.5 + Math.random() / 2)
  failures += 1
  isRestarting = false
  setTimeout(connect, delay)
}

/** The handshake failed: because nobody is there, or because it was refused. Browsers do not say. */
const refused = async () => {
  refusals = (await isServiceReady()) ? refusals + 1 : 0
  if (refusals >= MOST_REFUSALS) return finish(REFUSED)
  say(refusals > 0 ? REFUSED : 'No connection. Trying again …')
  wait()
}

const hear = (frame) => {
  if (frame.type === 'connection') {
    refusals = 0
    say(frame.state === 'pending' && !document.documentElement.classList.contains('overlay') ? 'The captions have not begun yet.' : '')
  } else if (frame.type === 'error' && frame.code in FINAL_ERRORS) finish(FINAL_ERRORS[frame.code])
  else if (frame.type === 'error') isRestarting = frame.code === 'server_restart'
  else if (frame.status === 'finished') finish(ENDED)
  else if (frame.status === 'started') say('')
  else {
    // A connection that is worth something: the next loss begins to count anew.
    failures = 0
    show(frame)
  }
}

const addressOf = () => {
  const address = new URL(`${base}/ws/live/${live}`, location.href)
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  address.search = new URLSearchParams({ token, ...(cursor === null ? {} : { after: cursor }) })
  return address
}

const connect = () => {
  const socket = new WebSocket(addressOf())
  let hasOpened = false
  let isGone = false
  let isAlive = true
  const gone = () => {
    clearInterval(pinging)
    if (isGone || isOver) return
    isGone = true
    if (hasOpened) wait()
    else void refused()
  }
  // A network that went away tells nobody: the answer to a ping stays out.
  const pinging = setInterval(() => {
    if (!hasOpened) return
    if (!isAlive) {
      socket.close()
      return gone()
    }
    isAlive = false
    socket.send('{"type":"ping"}')
  }, PING_EVERY)
  socket.addEventListener('open', () => {
    hasOpened = true
  })
  socket.addEventListener('message', ({ data }) => {
    if (isGone) return
    isAlive = true
    hear(JSON.parse(data))
  })
  socket.addEventListener('close', gone)
}

paint()
if (token === '') finish('This link is incomplete: its token is missing.')
else connect()
