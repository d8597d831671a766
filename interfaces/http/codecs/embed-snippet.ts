import type { LiveView } from '../../../application/ports/read-models.ts'

/** Font size, line height (as a factor) and vertical padding, as in pages/embed.css. */
const DEFAULT_SIZE_PX = 28
const LINE_HEIGHT = 1.4
const MARGINS_PX = 16
/** Maximum height of the frame in lines. The page keeps the newest line visible. */
const MAX_LINES = 6

const ENTITIES: Readonly<Record<string, string>> =
  { '&': '&amp;', '"': '&quot;', "'": '&#39;', '<': '&lt;', '>': '&gt;' }

const escaped = (text: string): string => text.replaceAll(/[&"'<>]/g, (character) => ENTITIES[character] ?? '')

const addressOf = ({ id, display, listenerToken }: LiveView, pagesUrl: string): string => {
  const look = new URLSearchParams()
  for (const [name, value] of Object.entries(display ?? {})) if (value !== null) look.set(name, String(value))
  return `${pagesUrl}/embed/live/${id}?${look.toString()}#token=${encodeURIComponent(listenerToken)}`
}

/** Returns the height for one caption and the two lines before it, in pixels. */
const heightOf = ({ display, config }: LiveView): number => {
  const lines = Math.min(config.max_lines + 2, MAX_LINES)
  return Math.ceil((display?.size_text ?? DEFAULT_SIZE_PX) * LINE_HEIGHT * lines) + MARGINS_PX
}

/**
 * Returns `iframe_html`: an iframe that shows the captions of a session on any page. Null for a session without colours
 * and text size. `pagesUrl` is the address in front of the path of a page.
 */
export const embedSnippet = (live: LiveView, pagesUrl: string): string | null => {
  if (live.display === null) return null
  const attributes = {
    src: addressOf(live, pagesUrl),
    title: 'Live captions',
    width: '100%',
    height: String(heightOf(live)),
    sandbox: 'allow-scripts',
    referrerpolicy: 'no-referrer',
    loading: 'lazy',
  }
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${escaped(value)}"`)
  return `<iframe ${written.join(' ')}></iframe>`
}
