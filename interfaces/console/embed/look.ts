const COLOUR = /^(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$/

/** Colours as hexadecimal digits. Null leaves the value to the page. */
export interface Look {
  readonly background: string | null
  readonly text: string | null
  /** Font size in pixels. */
  readonly size: number | null
}

/** Returns red, green, blue and opacity, each from 0 to 255. */
const channelsOf = (digits: string): ReadonlyArray<number> => {
  const long = digits.length < 5 ? Array.from(digits, (digit) => digit + digit).join('') : digits
  return Array.from(long.padEnd(8, 'f').matchAll(/../g), ([pair]) => Number.parseInt(pair, 16))
}

const isDark = ([red = 0, green = 0, blue = 0]: ReadonlyArray<number>): boolean =>
  0.299 * red + 0.587 * green + 0.114 * blue < 140

const isTransparent = (digits: string): boolean => (channelsOf(digits)[3] ?? 255) < 128

/** Reads the look from the query. It checks every value again, because any page can link to this one. */
export const lookOf = (query: URLSearchParams): Look => {
  const colourOf = (name: string): string | null => (COLOUR.test(query.get(name) ?? '') ? query.get(name) : null)
  const size = /^\d{1,3}$/.test(query.get('size_text') ?? '') ? Number(query.get('size_text')) : 0
  return {
    background: colourOf('background_color'),
    text: colourOf('color_text'),
    size: size >= 8 && size <= 200 ? size : null,
  }
}

/** Returns whether the captions lie over a video: their background is then missing or mostly transparent. */
export const isOverlay = ({ background }: Look): boolean => background === null || isTransparent(background)

/** Applies the look to the page. */
export const paint = (look: Look): void => {
  const { background, size } = look
  const hasOverlay = isOverlay(look)
  const text = look.text ?? (hasOverlay || isDark(channelsOf(background ?? '000')) ? 'fff' : '000')
  const { style, classList } = document.documentElement
  style.setProperty('--background', background === null ? 'transparent' : `#${background}`)
  style.setProperty('--text', `#${text}`)
  style.setProperty('--outline', isDark(channelsOf(text)) ? '#fff' : '#000')
  if (size !== null) style.setProperty('--size', `${size}px`)
  classList.toggle('overlay', hasOverlay)
}
