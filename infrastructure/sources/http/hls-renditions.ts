import type { MasterPlaylist, Rendition, Variant } from './hls-playlist.ts'
import { SourceError } from '../source-error.ts'

/** Playlists that one attempt tries: the best one, then its backups. */
const MAX_CANDIDATES = 5

/** Audio codecs (RFC 6381) that the decoder knows. */
const AUDIO_CODEC = /^(?:mp4a|mp3|ac-3|ec-3|opus|flac|alac|vorbis|dts)/i

/** `en` for `en`, `en-GB` and `eng`. */
const primaryLanguage = (tag: string): string => {
  try {
    return new Intl.Locale(tag).language
  } catch {
    return tag.toLowerCase()
  }
}

/** The renditions of a variant. One without a URI is part of the variant itself. */
const groupOf = ({ audio }: Variant, renditions: ReadonlyArray<Rendition>): ReadonlyArray<Rendition> =>
  renditions.filter(({ group }) => group === audio)

/** Whether a variant or its renditions have sound: `CODECS`, where it is given, names every codec. */
const hasAudio = (variant: Variant, renditions: ReadonlyArray<Rendition>): boolean =>
  variant.codecs === null
  || variant.codecs.some((codec) => AUDIO_CODEC.test(codec))
  || groupOf(variant, renditions).some(({ uri }) => uri !== null)

const preferred = (group: ReadonlyArray<Rendition>, language: string | null): Rendition | undefined => {
  // The other renditions, for instance comments of a director, are only for people who choose them.
  const automatic = group.filter(({ isDefault, isAutomatic }) => isDefault || isAutomatic)
  const spoken = automatic.filter((rendition) =>
    language !== null && rendition.language !== null
    && primaryLanguage(rendition.language) === primaryLanguage(language))
  const isDefault = (rendition: Rendition): boolean => rendition.isDefault
  return spoken.find(isDefault) ?? spoken[0] ?? automatic.find(isDefault) ?? automatic[0] ?? group[0]
}

/**
 * Returns the URIs of the playlists with the wanted audio, the best one first, then its backups. The rendition comes
 * first: it is in the language of the session, or the default. Of equal ones, the variant with the fewest bits is best.
 */
export const audioPlaylists = (
  { variants, renditions }: MasterPlaylist,
  language: string | null,
): ReadonlyArray<string> => {
  const audible = variants.filter((variant) => hasAudio(variant, renditions))
  const uris = (audible.length > 0 ? audible : variants)
    .toSorted((a, b) => a.bandwidth - b.bandwidth)
    .map((variant) => preferred(groupOf(variant, renditions), language)?.uri ?? variant.uri)
  if (uris.length === 0) throw new SourceError('bad_playlist')
  return [...new Set(uris)].slice(0, MAX_CANDIDATES)
}
