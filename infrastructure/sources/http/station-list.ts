// Lists of radio stations: PLS (`File1=…`) and M3U (one address a line). An HLS playlist is an M3U with tags.

/** Addresses of a list that one attempt tries. */
const MAX_STATIONS = 8

/** Enough bytes for `isStationListHead`. */
export const STATION_HEAD_BYTES = 16

/** Whether a body with these first bytes is a list without `#EXTM3U`. */
export const isStationListHead = (head: Buffer): boolean =>
  /^(?:\xef\xbb\xbf)?\s*(?:\[playlist\]|https?:\/\/)/i.test(head.toString('latin1'))

/** Whether a text that begins with `#EXTM3U` is a list of stations: it has none of the tags of HLS. */
export const isStationList = (text: string): boolean => !text.includes('#EXT-X-')

/** Returns the addresses of a list in their order. They may be relative, and need every check of an address. */
export const stationsOf = (text: string): ReadonlyArray<string> => {
  const lines = text.replace(/^\uFEFF/, '').split(/[\r\n]+/).map((line) => line.trim()).filter((line) => line !== '')
  const files = /^\[playlist\]$/i.test(lines[0] ?? '')
    ? lines.flatMap((line) => /^File\d{1,6}\s*=\s*(.+)$/i.exec(line)?.[1] ?? [])
    : lines.filter((line) => !line.startsWith('#'))
  return files.slice(0, MAX_STATIONS)
}
