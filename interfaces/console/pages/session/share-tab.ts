import { useSignal } from '@preact/signals'
import { h, type VNode } from 'preact'
import { encode } from 'uqr'
import type { LiveSession } from '../../../client/operations.ts'
import { codeBlock } from '../../components/code.ts'
import { checkbox, choice, textField } from '../../components/field.ts'
import { languageName, t } from '../../messages/texts.ts'
import { ROOT } from '../../state/address.ts'
import { a, div, h2, iframe, p, view } from '../../ui/tags.ts'

/** Creates a QR code. It is dark on white in every theme, because QR readers expect this contrast. */
const qrCode = (text: string): VNode => {
  const { data, size } = encode(text, { border: 0 })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return h('svg', { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': t('qr_label') },
    h('path', { d: path }))
}

const { hostname } = new URL(ROOT)
const isLoopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
const isPrivate = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/.test(hostname)

interface Look {
  readonly isTransparent: boolean
  readonly background: string
  readonly text: string
  readonly size: string
  readonly language: string
}

const addressOf = (
  { id, listener_token: token }: LiveSession,
  { isTransparent, background, text, size, language }: Look,
): string => {
  const look = new URLSearchParams({
    background_color: isTransparent ? '00000000' : background.slice(1),
    color_text: text.slice(1),
    size_text: size,
  })
  if (language !== '') look.set('language', language)
  return `${ROOT}/embed/live/${id}?${look.toString()}#token=${encodeURIComponent(token)}`
}

/** Adds the controls for language, size and contrast, which only people who open the page itself need. */
const forAudience = (address: string): string => address.replace('?', '?controls=1&')

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/**
 * Returns an iframe with the height of `iframe_html`: one caption and the two lines before it, at most six lines. The
 * line height 1.4 and the padding of 16 px are in embed.css.
 */
const snippetOf = (address: string, size: number, { config }: LiveSession): string => {
  const height = Math.ceil(size * 1.4 * Math.min(config.max_lines + 2, 6)) + 16
  return `<iframe src="${escaped(address)}" title="Live captions" width="100%" height="${height}" `
    + 'sandbox="allow-scripts" referrerpolicy="no-referrer" loading="lazy"></iframe>'
}

interface ShareTabProps {
  readonly live: LiveSession
}

const ShareTab = ({ live }: ShareTabProps): VNode => {
  const look = useSignal<Look>({ isTransparent: false, background: '#000000', text: '#ffffff', size: '28',
    language: '' })
  const update = (changed: Partial<Look>): void => {
    look.value = { ...look.value, ...changed }
  }
  const { isTransparent, background, text, size, language } = look.value
  const address = addressOf(live, look.value)
  const targets = live.translations.map(({ lang_to: to }) => to.iso_639_1)
  const preview = { src: address, title: t('preview'), sandbox: 'allow-scripts', referrerpolicy: 'no-referrer',
    height: 160 } as const
  return div(
    { class: 'columns' },
    div(
      null,
      targets.length === 0 ? null : choice(
        { id: 'shown-language', text: t('shown_language') }, language,
        [['', t('as_spoken')], ...targets.map((target) => [target, languageName(target)] as const)],
        (chosen) => update({ language: chosen }),
      ),
      checkbox('transparent', t('transparent'), isTransparent, (checked) => update({ isTransparent: checked })),
      textField({ id: 'share-background', text: t('background') }, background, (value) => update({ background: value }),
        { type: 'color' }),
      textField(
        { id: 'share-text', text: t('text_color') },
        text,
        (value) => update({ text: value }),
        { type: 'color' },
      ),
      textField({ id: 'share-size', text: t('text_size') }, size, (value) => update({ size: value }),
        { type: 'number', min: 8, max: 200 }),
      isLoopback ? p({ class: 'notice warn' }, t('share_loopback')) : null,
      isPrivate ? p({ class: 'notice' }, t('share_private')) : null,
    ),
    div(
      null,
      h2(null, t('audience_link')),
      p({ class: 'hint' }, t('audience_hint')),
      codeBlock({ text: forAudience(address), label: t('audience_link') }),
      p(null, a({ href: forAudience(address), target: '_blank', rel: 'noopener noreferrer' }, t('audience_open'))),
      qrCode(forAudience(address)),
      h2(null, t('preview')),
      iframe({ ...preview, key: address }),
      h2(null, t('snippet')),
      codeBlock({ text: snippetOf(address, Number(size), live), label: t('snippet') }),
      p({ class: 'hint' }, t('share_origins')),
      h2(null, t('obs')),
      codeBlock({ text: addressOf(live, { ...look.value, isTransparent: true }), label: t('obs') }),
    ),
  )
}

export const shareTab = view(ShareTab)
