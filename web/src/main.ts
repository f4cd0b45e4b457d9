import { createApp } from 'vue'

import App from './App.vue'
import { startLanguage } from './locale'
import { applyTheme } from './preferences'
import { router } from './router'
import './theme.css'

applyTheme()
void startLanguage().then(() => createApp(App).use(router).mount('#app'))
