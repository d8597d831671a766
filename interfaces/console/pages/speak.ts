import type { VNode } from 'preact'
import { t } from '../messages/texts.ts'
import { h1, view } from '../ui/tags.ts'

const Speak = (): VNode => h1({ tabIndex: -1 }, t('speak'))

export const speakPage = view(Speak)
