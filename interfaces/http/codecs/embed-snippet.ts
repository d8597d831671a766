import type { LiveView } from '../../../application/ports/read-models.ts'

/** Of the page's own style, in pixels. */
const USUAL_SIZE = 28
const LINE_HEIGHT = 1.4
const MARGINS = 16
/** Captions of this many lines are as high as the frame gets; the page keeps the newest in sight. */
const MOST_LINES = 6

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const addressOf = ({ id, display, listenerToken }: LiveView, pagesUrl: string): string => {
  const look = new URLSearchParams()
  for (const [name, value] of Object.entries(display ?? {})) if (value !== null) look.set(name, String(value))
  return `${pagesUrl}/embed/live/${id}?${look.toString()}#token=${encodeURIComponent(listenerToken)}`
}

/** Enough for one caption and the two lines before it. */
const heightOf = ({ display, config }: LiveView): number =>
  Math.ceil((display?.size_text ?? USUAL_SIZE) * LINE_HEIGHT * Math.min(config.max_lines + 2, MOST_LINES)) + MARGINS

/** `iframe_html` (D21): HTML that shows the live on anybody's page, null for a live without display fields. `pagesUrl` as in `Origin`. */
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
  return `<iframe ${Object.entries(attributes).map(([name, value]) => `${name}="${escaped(value)}"`).join(' ')}></iframe>`
}
