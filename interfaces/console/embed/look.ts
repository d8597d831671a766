const COLOUR = /^(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$/

/** Digits of colours; null is what the page takes by itself. */
export interface Look {
  readonly background: string | null
  readonly text: string | null
  /** Pixels. */
  readonly size: number | null
}

/** Red, green, blue and opacity, each 0 to 255. */
const channelsOf = (digits: string): ReadonlyArray<number> => {
  const long = digits.length < 5 ? Array.from(digits, (digit) => digit + digit).join('') : digits
  return Array.from(long.padEnd(8, 'f').matchAll(/../g), ([pair]) => Number.parseInt(pair, 16))
}

const isDark = ([red = 0, green = 0, blue = 0]: ReadonlyArray<number>): boolean =>
  0.299 * red + 0.587 * green + 0.114 * blue < 140

const isThin = (digits: string): boolean => (channelsOf(digits)[3] ?? 255) < 128

/** The service has checked the values already, but no page of another origin is to be trusted with a style. */
export const lookOf = (query: URLSearchParams): Look => {
  const colourOf = (name: string): string | null => (COLOUR.test(query.get(name) ?? '') ? query.get(name) : null)
  const size = /^\d{1,3}$/.test(query.get('size_text') ?? '') ? Number(query.get('size_text')) : 0
  return {
    background: colourOf('background_color'), text: colourOf('color_text'), size: size >= 8 && size <= 200 ? size : null,
  }
}

/** Over a picture, of which nobody knows what is behind the letters. */
export const isOverlay = ({ background }: Look): boolean => background === null || isThin(background)

/** Gives the page this look. */
export const paint = (look: Look): void => {
  const { background, size } = look
  const isOver = isOverlay(look)
  const text = look.text ?? (isOver || isDark(channelsOf(background ?? '000')) ? 'fff' : '000')
  const { style, classList } = document.documentElement
  style.setProperty('--background', background === null ? 'transparent' : `#${background}`)
  style.setProperty('--text', `#${text}`)
  style.setProperty('--outline', isDark(channelsOf(text)) ? '#fff' : '#000')
  if (size !== null) style.setProperty('--size', `${size}px`)
  classList.toggle('overlay', isOver)
}
